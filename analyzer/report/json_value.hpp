// SPDX-License-Identifier: BSD-3-Clause
// JSON values (RFC 8259), written straight into a Sink: shared by the JSON and NDJSON formats.
//
// Field names are literals without anything to escape, so a key costs one copy.

#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstring>
#include <variant>

#include "report/describe.hpp"
#include "report/sink.hpp"
#include "report/text_value.hpp"

namespace rocetrace::json {

/// A quoted string; ill-formed UTF-8 is replaced, control characters are escaped.
void write(Sink& out, std::string_view text);

inline void write(Sink& out, const std::string& text) {
  write(out, std::string_view{text});
}
inline void null(Sink& out) {
  out.text("null");
}
inline void write(Sink& out, bool value) {
  out.text(value ? std::string_view{"true"} : std::string_view{"false"});
}
inline void write(Sink& out, std::integral auto value) {
  out.number(value);
}
inline void write(Sink& out, double value) {
  if (!std::isfinite(value)) return null(out);
  out.print("{}", value);
}
inline void write(Sink& out, Time time) {
  char* at = out.reserve(kTimeSize + 2);
  *at++ = '"';
  at = write_time(at, time.ns);
  *at++ = '"';
  out.used(at);
}

template <Described T>
void write(Sink& out, const T& row);
template <class T>
void write(Sink& out, const std::optional<T>& value);
template <class T>
void write(Sink& out, const std::vector<T>& list);
template <class T, std::size_t N>
void write(Sink& out, const std::array<T, N>& list);
void write(Sink& out, const std::vector<ValueCount>& tally);
void write(Sink& out, const Evidence& evidence);

/// Writes the members of an object: a comma before all but the first, and its key.
class Members {
 public:
  explicit Members(Sink& out) : out_{out} {}

  template <std::size_t N, class T>
  void operator()(const char (&name)[N], const T& value) {
    key(name);
    if constexpr (std::same_as<T, Word>) {
      value.empty() ? null(out_) : write(out_, value);
    } else {
      write(out_, value);
    }
  }
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], const IfSet<T>& value) {
    if (value.value) (*this)(name, *value.value);
  }

  template <std::size_t N>
  void key(const char (&name)[N]) {
    char* at = out_.reserve(N + 4);
    if (!first_) *at++ = ',';
    first_ = false;
    *at++ = '"';
    std::memcpy(at, name, N - 1);
    at += N - 1;
    *at++ = '"';
    *at++ = ':';
    out_.used(at);
  }

 private:
  Sink& out_;
  bool first_ = true;
};

template <Described T>
void write(Sink& out, const T& row) {
  out.put('{');
  describe(row, Members{out});
  out.put('}');
}

template <class T>
void write(Sink& out, const std::optional<T>& value) {
  value ? write(out, *value) : null(out);
}

namespace detail {
void write_list(Sink& out, const auto& list) {
  out.put('[');
  bool first = true;
  for (const auto& value : list) {
    if (!first) out.put(',');
    first = false;
    write(out, value);
  }
  out.put(']');
}
}  // namespace detail

template <class T>
void write(Sink& out, const std::vector<T>& list) {
  detail::write_list(out, list);
}

template <class T, std::size_t N>
void write(Sink& out, const std::array<T, N>& list) {
  detail::write_list(out, list);
}

}  // namespace rocetrace::json
