// SPDX-License-Identifier: BSD-3-Clause
// Harmless text, and times. See text_value.hpp.

#include "report/text_value.hpp"

#include <fmt/format.h>

#include <cstring>

namespace rocetrace {
namespace {

using roce::u32;
using roce::u64;
using roce::u8;

constexpr bool continues(char c) {
  return (static_cast<u8>(c) & 0xc0) == 0x80;
}

u32 code_point(std::string_view sequence) {
  constexpr u8 kFirstMask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  u32 value = static_cast<u8>(sequence[0]) & kFirstMask[sequence.size()];
  for (std::size_t i = 1; i < sequence.size(); ++i)
    value = value << 6 | (static_cast<u8>(sequence[i]) & 0x3fu);
  return value;
}

constexpr bool is_control(u32 c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0x200e || c == 0x200f || c == 0x061c;
}

void two_digits(char* out, u64 value) {
  out[0] = static_cast<char>('0' + value / 10);
  out[1] = static_cast<char>('0' + value % 10);
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const u8 first = static_cast<u8>(text[0]);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if (!continues(text[i])) return 0;
  const u8 second = static_cast<u8>(text[1]);
  if (first == 0xe0 && second < 0xa0) return 0;
  if (first == 0xed && second > 0x9f) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second > 0x8f) return 0;
  return size;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = utf8_length(text);
    if (size == 0) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    const u32 value = code_point(text.substr(0, size));
    if (value < 0x100 && is_control(value)) {
      out += fmt::format("\\x{:02x}", value);
    } else if (is_control(value)) {
      out += fmt::format("\\u{:04x}", value);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return out;
}

char* write_time(char* out, u64 ns_since_1970) {
  const u64 seconds = ns_since_1970 / 1'000'000'000;
  u64 fraction = ns_since_1970 % 1'000'000'000;
  const u64 of_day = seconds % 86'400;
  // Days to a civil date, years counted from March so that the leap day comes last.
  const u64 days = seconds / 86'400 + 719'468;
  const u64 era = days / 146'097;
  const u64 day_of_era = days % 146'097;
  const u64 year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const u64 day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const u64 month_from_march = (5 * day_of_year + 2) / 153;
  const u64 day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
  const u64 month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
  const u64 year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);

  std::memcpy(out, "0000-00-00T00:00:00.000000000Z", kTimeSize);
  two_digits(out, year / 100);
  two_digits(out + 2, year % 100);
  two_digits(out + 5, month);
  two_digits(out + 8, day);
  two_digits(out + 11, of_day / 3600);
  two_digits(out + 14, of_day / 60 % 60);
  two_digits(out + 17, of_day % 60);
  for (char* digit = out + 28; digit >= out + 20; --digit) {
    *digit = static_cast<char>('0' + fraction % 10);
    fraction /= 10;
  }
  return out + kTimeSize;
}

std::string time_text(u64 ns_since_1970) {
  std::array<char, kTimeSize> text;
  write_time(text.data(), ns_since_1970);
  return {text.data(), text.size()};
}

}  // namespace rocetrace
