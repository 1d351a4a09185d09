// SPDX-License-Identifier: GPL-2.0-or-later
// The tables are made from the core's, once, when they are first asked for.

#include "words.hpp"

#include <array>
#include <string>
#include <vector>

#include "roce/opcode.hpp"
#include "roce/syndrome.hpp"

namespace dissector {
namespace {

/// value_strings and the text that they point to.
struct Words {
  std::vector<std::string> texts;
  std::vector<value_string> rows;
  value_string_ext table{};

  template <class TextOf>
  Words(std::size_t count, const char* name, TextOf text_of) {
    texts.reserve(count);  // never moved: rows point into it
    for (std::size_t i = 0; i < count; i++) {
      std::string text = text_of(i);
      if (text.empty()) continue;
      texts.push_back(std::move(text));
      rows.push_back({static_cast<uint32_t>(i), texts.back().c_str()});
    }
    rows.push_back({0, nullptr});
    table = {_try_val_to_str_ext_init, 0, static_cast<unsigned>(rows.size() - 1), rows.data(),
             name};
  }
};

/// 0.64 ms, 20.48 ms, 0.01 ms: every RNR timer is a multiple of 10 us.
std::string milliseconds(uint32_t nanoseconds) {
  const uint32_t hundredths = nanoseconds / 10'000;
  const std::string fraction = std::to_string(100 + hundredths % 100).substr(1);
  return std::to_string(hundredths / 100) + "." + fraction + " ms";
}

std::string nak_words(roce::NakCode code) {
  const std::string_view text = roce::nak_text(code);
  return text.empty() ? "reserved code" : std::string(text);
}

const Words& opcodes() {
  static const Words words(256, "RoCE opcodes", [](std::size_t opcode) {
    const roce::OpcodeInfo& info = roce::opcode_info(static_cast<roce::u8>(opcode));
    if (!info.known()) return std::string();
    if (info.operation == roce::Operation::cnp) return std::string(info.name);
    return std::string(info.service) + " " + std::string(info.name);
  });
  return words;
}

const Words& syndromes() {
  static const Words words(256, "AETH syndromes", [](std::size_t byte) {
    const roce::Syndrome syndrome(static_cast<roce::u8>(byte));
    if (syndrome.is_ack()) {
      if (syndrome.credit_count() == 31) return std::string("ACK");
      return "ACK, credit code " + std::to_string(syndrome.credit_count());
    }
    if (syndrome.is_rnr_nak()) return "RNR NAK, wait " + milliseconds(syndrome.rnr_timer_ns());
    if (syndrome.is_nak()) return "NAK, " + nak_words(syndrome.nak_code());
    return std::string("Reserved");
  });
  return words;
}

const Words& rnr_timers() {
  static const Words words(roce::kRnrTimerNs.size(), "RNR timers",
                           [](std::size_t code) { return milliseconds(roce::kRnrTimerNs[code]); });
  return words;
}

const Words& nak_codes() {
  static const Words words(32, "NAK codes", [](std::size_t code) {
    return nak_words(static_cast<roce::NakCode>(code));
  });
  return words;
}

const char* find(const Words& words, uint32_t value) {
  for (const value_string& row : words.rows) {
    if (row.strptr && row.value == value) return row.strptr;
  }
  return nullptr;
}

std::array<const char*, 256> all_of(const Words& words) {
  std::array<const char*, 256> out{};
  for (uint32_t i = 0; i < out.size(); i++) out[i] = find(words, i);
  return out;
}

}  // namespace

const value_string kSyndromeTypes[] = {
    {0, "ACK"}, {1, "RNR NAK"}, {2, "Reserved"}, {3, "NAK"}, {0, nullptr}};

const char* opcode_text(uint8_t opcode) {
  static const std::array<const char*, 256> texts = all_of(opcodes());
  return texts[opcode];
}
const char* syndrome_text(uint8_t syndrome) {
  static const std::array<const char*, 256> texts = all_of(syndromes());
  return texts[syndrome];
}
value_string_ext* opcode_words() {
  static value_string_ext table = opcodes().table;
  return &table;
}
value_string_ext* syndrome_words() {
  static value_string_ext table = syndromes().table;
  return &table;
}
const value_string* rnr_timer_words() {
  return rnr_timers().rows.data();
}
const value_string* nak_code_words() {
  return nak_codes().rows.data();
}

}  // namespace dissector
