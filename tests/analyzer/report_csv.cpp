// SPDX-License-Identifier: BSD-3-Clause
// CSV: columns that do not depend on rows, and quoting (RFC 4180).

#include <gmock/gmock.h>

#include "report/csv_value.hpp"
#include "report/describe.hpp"
#include "report_fixture.hpp"

namespace rocetrace {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Splits into rows of fields, by the grammar of RFC 4180.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"')
        rows.back().back() += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        rows.back().back() += text[++i];
      else
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      rows.back().emplace_back();
    } else if (c == '\n') {
      rows.push_back({""});
    } else if (c != '\r') {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

std::string field(const std::vector<std::vector<std::string>>& rows, std::size_t row,
                  std::string_view column) {
  for (std::size_t i = 0; i < rows[0].size(); ++i)
    if (rows[0][i] == column) return rows[row].at(i);
  ADD_FAILURE() << "no column " << column;
  return {};
}

std::string written_field(std::string_view text) {
  std::string out;
  Sink sink = Sink::memory(out);
  csv::write(sink, text);
  sink.commit();
  return out;
}

TEST(Csv, PlainTextIsNotQuoted) {
  EXPECT_EQ(written_field("10.0.0.1"), "10.0.0.1");
}

TEST(Csv, CommaQuoteAndLineEndAreQuoted) {
  EXPECT_EQ(written_field("a,b"), "\"a,b\"");
  EXPECT_EQ(written_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(written_field("a\r\nb"), "\"a\r\nb\"");
}

TEST(Csv, ControlsAndIllFormedTextAreReplaced) {
  EXPECT_EQ(written_field("\x1b[2J\xff"), "\xef\xbf\xbd[2J\xef\xbf\xbd");
  EXPECT_EQ(written_field("é"), "é");
}

TEST(ReportCsv, EveryRowHasEveryColumn) {
  std::size_t filled = 0;
  for (const ReportPart& part : kCsvParts) {
    const auto rows = read_csv(written(small_report(), part.write));
    ASSERT_GE(rows.size(), 1u) << part.suffix;
    filled += rows.size() > 1;
    for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size()) << part.suffix;
  }
  EXPECT_GE(filled, 6u);
}

TEST(ReportCsv, EveryTableOfTheReportIsAFile) {
  std::vector<std::string> files, tables{".totals"};
  for (const ReportPart& part : kCsvParts) files.emplace_back(part.suffix);
  describe_tables(small_report(), [&](const char* name, const char*, const auto&) {
    tables.push_back(std::string(".") + name);
  });
  EXPECT_THAT(files, testing::UnorderedElementsAreArray(tables));
}

TEST(ReportCsv, HalfFlowsAreFlattened) {
  const auto rows = read_csv(written(small_report(), write_csv<&Report::half_flows>));
  EXPECT_EQ(field(rows, 1, "id"), "1");
  EXPECT_EQ(field(rows, 1, "source_ports"), "49152 49153");
  EXPECT_EQ(field(rows, 1, "dscp"), "0=2 26=998");
  EXPECT_EQ(field(rows, 1, "cnp.interval_ns.p50"), "100000");
  EXPECT_EQ(field(rows, 1, "requests.by_cause.nak_sequence"), "20");
  EXPECT_EQ(field(rows, 1, "last_time"), "2024-05-06T07:08:10.000000001Z");
}

TEST(ReportCsv, WhatIsNotKnownIsEmpty) {
  const auto rows = read_csv(written(small_report(), write_csv<&Report::half_flows>));
  EXPECT_EQ(field(rows, 2, "service"), "");
  EXPECT_EQ(field(rows, 2, "cnp.interval_ns.p50"), "");
  EXPECT_EQ(field(rows, 2, "requests.by_place.upstream"), "");
  EXPECT_EQ(field(rows, 2, "responses.gaps"), "");
  EXPECT_EQ(field(rows, 2, "icrc.good"), "0");
}

TEST(ReportCsv, FindingsKeepTheirEvidence) {
  const auto rows = read_csv(written(small_report(), write_csv<&Report::findings>));
  EXPECT_EQ(field(rows, 1, "evidence"), "amplification=2.5; lost=12; why=NAK, mostly");
  EXPECT_EQ(field(rows, 1, "scope.half_flow"), "1");
  EXPECT_EQ(field(rows, 1, "scope.host"), "");
}

TEST(ReportCsv, CapturesKeepTheirDamage) {
  const auto rows = read_csv(written(small_report(), write_csv<&Report::captures>));
  EXPECT_EQ(field(rows, 1, "damages"), "offset 1234: record longer than the file");
  EXPECT_EQ(field(rows, 1, "cut_short"), "true");
}

TEST(ReportCsv, TableWithoutRowsStillHasItsColumns) {
  EXPECT_THAT(written({}, write_csv<&Report::half_flows>),
              StartsWith("id,version,source,destination,"));
}

}  // namespace
}  // namespace rocetrace
