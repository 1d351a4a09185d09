// SPDX-License-Identifier: BSD-3-Clause
// The report as CSV: one table to a file, its fields flattened with dots.
//
// The columns of a table never depend on its rows. A list is one column, its values separated by
// spaces; so is a tally (26=3) and a finding's evidence (expected_psn=7).

#include <algorithm>
#include <concepts>

#include "report/csv_value.hpp"
#include "report/describe.hpp"
#include "report/formats.hpp"
#include "report/text_value.hpp"

namespace rocetrace {
namespace csv {
namespace {

constexpr bool is_plain(char c) {
  return static_cast<roce::u8>(c) >= 0x20 && static_cast<roce::u8>(c) < 0x7f && c != '"';
}
constexpr bool needs_quotes(char c) {
  return c == '"' || c == ',' || c == '\n' || c == '\r';
}

}  // namespace

void write(Sink& out, std::string_view text) {
  const bool quoted = std::ranges::any_of(text, needs_quotes);
  if (quoted) out.put('"');
  while (!text.empty()) {
    const std::size_t size = utf8_length(text);
    if (is_plain(text[0]) || text[0] == '\n' || text[0] == '\r' || text[0] == '\t') {
      out.put(text[0]);
    } else if (text[0] == '"') {
      out.text("\"\"");
    } else if (size < 2) {
      out.text(kReplacement);
    } else {
      out.text(text.substr(0, size));
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  if (quoted) out.put('"');
}

}  // namespace csv

namespace {

// A nested struct that is not there still has its columns, all of them empty.
struct Absent {};

class ColumnNames {
 public:
  explicit ColumnNames(Sink& out) : out_{out} {}

  template <class T>
  void operator()(std::string_view name, const T&) {
    if constexpr (Described<T>) {
      nested(name, T{});
    } else {
      column(name);
    }
  }
  template <class T>
  void operator()(std::string_view name, const std::optional<T>&) {
    (*this)(name, T{});
  }

 private:
  template <class T>
  void nested(std::string_view name, const T& row) {
    const std::size_t size = prefix_.size();
    prefix_ += name;
    prefix_ += '.';
    describe(row, *this);
    prefix_.resize(size);
  }
  void column(std::string_view name) {
    if (!first_) out_.put(',');
    first_ = false;
    out_.text(prefix_);
    out_.text(name);
  }

  Sink& out_;
  std::string prefix_;
  bool first_ = true;
};

class Fields {
 public:
  explicit Fields(Sink& out) : out_{out} {}

  template <class T>
  void operator()(std::string_view name, const T& value) {
    if constexpr (Described<T>) {
      describe(value, *this);
    } else {
      comma();
      write(value);
    }
    static_cast<void>(name);
  }
  template <class T>
  void operator()(std::string_view name, const std::optional<T>& value) {
    if (value) return (*this)(name, *value);
    if constexpr (Described<T>) {
      describe(T{}, [this](std::string_view inner, const auto&) { (*this)(inner, Absent{}); });
    } else {
      comma();
    }
  }
  template <class T>
  void operator()(std::string_view name, const IfSet<T>& value) {
    (*this)(name, value.value);
  }

 private:
  void comma() {
    if (!first_) out_.put(',');
    first_ = false;
  }
  void write(Absent) {}
  void write(bool value) { out_.text(value ? "true" : "false"); }
  void write(std::integral auto value) { out_.number(value); }
  void write(double value) { out_.print("{}", value); }
  void write(Time time) { out_.used(write_time(out_.reserve(kTimeSize), time.ns)); }
  void write(std::string_view text) { csv::write(out_, text); }
  void write(const std::string& text) { csv::write(out_, text); }

  template <std::integral T>
  void write(const std::vector<T>& list) {
    joined(list, [&](T value) { out_.number(value); });
  }
  void write(const std::array<std::optional<u64>, 2>& list) {
    joined(list,
           [&](const std::optional<u64>& value) { value ? out_.number(*value) : out_.put('-'); });
  }
  void write(const std::vector<ValueCount>& tally) {
    joined(tally, [&](const ValueCount& entry) {
      out_.number(entry.value);
      out_.put('=');
      out_.number(entry.count);
    });
  }
  void write(const std::vector<std::string>& list) {
    std::string all;
    for (const std::string& value : list) {
      if (!all.empty()) all += "; ";
      all += value;
    }
    write(all);
  }
  void write(const std::vector<DamageRow>& damages) {
    std::vector<std::string> all;
    for (const DamageRow& damage : damages)
      all.push_back(fmt::format("offset {}: {}", damage.offset, damage.reason));
    write(all);
  }
  void write(const Evidence& evidence) {
    std::vector<std::string> all;
    for (const auto& [name, value] : evidence) {
      std::visit(
          [&, &name = name](const auto& held) { all.push_back(fmt::format("{}={}", name, held)); },
          value);
    }
    write(all);
  }

  void joined(const auto& list, auto&& write_one) {
    bool first = true;
    for (const auto& value : list) {
      if (!first) out_.put(' ');
      first = false;
      write_one(value);
    }
  }

  Sink& out_;
  bool first_ = true;
};

template <class Row>
void write_table(const auto& rows, Sink& out) {
  describe(Row{}, ColumnNames{out});
  out.text("\r\n");
  each_row(rows, [&](const Row& row) {
    describe(row, Fields{out});
    out.text("\r\n");
  });
}

template <class Row>
Row row_type(const Table<Row>&);
template <class Row>
Row row_type(const std::vector<Row>&);

}  // namespace

template <auto kTable>
void write_csv(const Report& report, const ReportStyle&, Sink& out) {
  const auto& table = report.*kTable;
  if constexpr (Described<std::remove_cvref_t<decltype(table)>>) {
    write_table<std::remove_cvref_t<decltype(table)>>(std::vector{table}, out);
  } else {
    write_table<decltype(row_type(table))>(table, out);
  }
}

template void write_csv<&Report::half_flows>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::connections>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::hosts>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::findings>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::captures>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::could_not_judge>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::totals>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::subnet_pairs>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::message_times>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::time_bins>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::protocols>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::icmp_errors>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::pauses>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::dcbx>(const Report&, const ReportStyle&, Sink&);
template void write_csv<&Report::samples>(const Report&, const ReportStyle&, Sink&);

}  // namespace rocetrace
