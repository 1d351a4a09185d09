// SPDX-License-Identifier: BSD-3-Clause
// Strings, tallies and evidence as JSON. See json_value.hpp.

#include "report/json_value.hpp"

namespace rocetrace::json {
namespace {

constexpr bool is_plain(char c) {
  return static_cast<roce::u8>(c) >= 0x20 && static_cast<roce::u8>(c) < 0x7f && c != '"' &&
         c != '\\';
}

void write_escaped(Sink& out, char c) {
  switch (c) {
    case '"': return out.text("\\\"");
    case '\\': return out.text("\\\\");
    case '\n': return out.text("\\n");
    case '\r': return out.text("\\r");
    case '\t': return out.text("\\t");
    default: out.print("\\u{:04x}", static_cast<roce::u8>(c));
  }
}

}  // namespace

void write(Sink& out, std::string_view text) {
  out.put('"');
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    out.text(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const std::size_t size = utf8_length(text);
    if (size == 0) {
      out.text(kReplacement);
    } else if (size == 1) {
      write_escaped(out, text[0]);
    } else {
      out.text(text.substr(0, size));
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  out.put('"');
}

void write(Sink& out, const std::vector<ValueCount>& tally) {
  out.put('{');
  bool first = true;
  for (const ValueCount& entry : tally) {
    out.text(first ? "\"" : ",\"");
    first = false;
    out.number(entry.value);
    out.text("\":");
    out.number(entry.count);
  }
  out.put('}');
}

void write(Sink& out, const Evidence& evidence) {
  out.put('{');
  bool first = true;
  for (const auto& [name, value] : evidence) {
    if (!first) out.put(',');
    first = false;
    write(out, name);
    out.put(':');
    std::visit([&](const auto& held) { write(out, held); }, value);
  }
  out.put('}');
}

}  // namespace rocetrace::json
