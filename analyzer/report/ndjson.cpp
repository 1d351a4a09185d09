// SPDX-License-Identifier: BSD-3-Clause
// The report as one JSON object to a line: its table, and its fields flattened with dots.

#include "report/formats.hpp"
#include "report/json_value.hpp"

namespace rocetrace {
namespace {

// A nested struct that is not there still has its columns, all of them null.
struct Absent {};

class FlatMembers {
 public:
  explicit FlatMembers(Sink& out) : out_{out} {}

  template <std::size_t N, class T>
  void operator()(const char (&name)[N], const T& value) {
    if constexpr (Described<T>) {
      nested(name, value, *this);
    } else {
      key(name);
      if constexpr (std::same_as<T, Word>) {
        value.empty() ? json::null(out_) : json::write(out_, value);
      } else {
        json::write(out_, value);
      }
    }
  }
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], const std::optional<T>& value) {
    if (value) return (*this)(name, *value);
    if constexpr (Described<T>) {
      nested(name, T{}, [this](const auto& inner, const auto&) { (*this)(inner, Absent{}); });
    } else {
      (*this)(name, Absent{});
    }
  }
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], const IfSet<T>& value) {
    if (value.value) (*this)(name, *value.value);
  }
  template <std::size_t N>
  void operator()(const char (&name)[N], const Absent&) {
    key(name);
    json::null(out_);
  }
  template <std::size_t N>
  void operator()(const char (&name)[N], const std::vector<ValueCount>& tally) {
    for (const ValueCount& entry : tally) {
      begin_key(name);
      out_.put('.');
      out_.number(entry.value);
      end_key();
      json::write(out_, entry.count);
    }
  }
  template <std::size_t N>
  void operator()(const char (&name)[N], const Evidence& evidence) {
    for (const auto& [inner, value] : evidence) {
      std::string full = prefix_;
      full += name;
      full += '.';
      full += inner;
      if (!first_) out_.put(',');
      first_ = false;
      json::write(out_, full);
      out_.put(':');
      std::visit([&](const auto& held) { json::write(out_, held); }, value);
    }
  }

 private:
  template <class T, class Visit>
  void nested(std::string_view name, const T& value, Visit&& visit) {
    const std::size_t size = prefix_.size();
    prefix_ += name;
    prefix_ += '.';
    describe(value, visit);
    prefix_.resize(size);
  }
  void begin_key(std::string_view name) {
    out_.text(first_ ? "\"" : ",\"");
    first_ = false;
    out_.text(prefix_);
    out_.text(name);
  }
  void end_key() { out_.text("\":"); }
  void key(std::string_view name) {
    begin_key(name);
    end_key();
  }

  Sink& out_;
  std::string prefix_;
  bool first_ = true;
};

template <class Row>
void write_line(Sink& out, std::string_view table, const Row& row) {
  out.put('{');
  FlatMembers members{out};
  members("table", Word{table});
  describe(row, members);
  out.text("}\n");
}

}  // namespace

void write_ndjson(const Report& report, const ReportStyle&, Sink& out) {
  write_line(out, "totals", report.totals);
  describe_tables(report, [&](const char*, const char* table, const auto& rows) {
    each_row(rows, [&](const auto& row) { write_line(out, table, row); });
  });
}

}  // namespace rocetrace
