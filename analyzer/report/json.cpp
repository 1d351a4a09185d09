// SPDX-License-Identifier: BSD-3-Clause
// The whole report as one JSON object, one row to a line.

#include "report/formats.hpp"
#include "report/json_value.hpp"

namespace rocetrace {
namespace {

void write_rows(Sink& out, const auto& rows) {
  out.put('[');
  bool first = true;
  each_row(rows, [&](const auto& row) {
    out.text(first ? "\n    " : ",\n    ");
    first = false;
    json::write(out, row);
  });
  out.text(first ? "]" : "\n  ]");
}

}  // namespace

void write_json(const Report& report, const ReportStyle&, Sink& out) {
  out.text("{\n  \"schema\": \"rocetrace/1\",\n  \"totals\": ");
  json::write(out, report.totals);
  describe_tables(report, [&](const char* key, const char*, const auto& rows) {
    out.print(",\n  \"{}\": ", key);
    write_rows(out, rows);
  });
  out.text("\n}\n");
}

}  // namespace rocetrace
