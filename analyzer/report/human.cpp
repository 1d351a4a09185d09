// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people read them. See human.hpp.

#include "report/human.hpp"

#include <cmath>
#include <iterator>
#include <span>

namespace rocetrace::human {
namespace {

using roce::u64;

// Three significant digits, without trailing zeros behind the point. value < 1000 after rounding.
std::string three_digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  std::string text = value >= 9.995 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

struct Scaled {
  std::string digits;
  const char* unit;
};

Scaled scaled(double value, std::span<const char* const> units) {
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  return {three_digits(value), units[unit]};
}

}  // namespace

std::string grouped(u64 value) {
  std::string digits = fmt::format("{}", value);
  for (std::size_t at = digits.size(); at > 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string count(double value) {
  static constexpr const char* kUnits[] = {"", "k", "M", "G", "T", "P"};
  const Scaled text = scaled(value, kUnits);
  return text.digits + text.unit;
}

std::string bytes(u64 value) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  const Scaled text = scaled(static_cast<double>(value), kUnits);
  return text.digits + ' ' + text.unit;
}

std::string bit_rate(double bits_per_second) {
  static constexpr const char* kUnits[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  const Scaled text = scaled(bits_per_second, kUnits);
  return text.digits + ' ' + text.unit;
}

std::string duration(u64 ns) {
  static constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  const u64 seconds = ns / 1'000'000'000;
  if (seconds >= 7200) return fmt::format("{} h {:02} min", seconds / 3600, seconds / 60 % 60);
  if (seconds >= 120) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  const Scaled text = scaled(static_cast<double>(ns), kUnits);
  return text.digits + ' ' + text.unit;
}

std::string share(u64 part, u64 whole) {
  if (whole == 0) return "-";
  if (part == 0) return "0 %";
  if (part == whole) return "100 %";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  if (percent < 0.01) return "<0.01 %";
  if (percent > 99.9) return ">99.9 %";
  if (percent < 0.0995) return fmt::format("{:.2f} %", percent);
  if (percent < 9.95) return fmt::format("{:.1f} %", percent);
  return fmt::format("{:.0f} %", percent);
}

std::string tight(std::string text) {
  std::erase(text, ' ');
  return text;
}

}  // namespace rocetrace::human
