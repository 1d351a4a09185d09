// SPDX-License-Identifier: BSD-3-Clause
#include "instant.hpp"

#include <charconv>
#include <chrono>

namespace rocetrace {

using roce::i64;
using roce::u64;

namespace {

constexpr u64 kSecond = 1'000'000'000;
constexpr u64 kMostSeconds = ~u64{0} / kSecond - 1;

// Takes a number of at most `digits` digits from the front of `text`.
std::optional<u64> take_number(std::string_view& text, std::size_t digits) {
  u64 value = 0;
  const std::string_view front = text.substr(0, digits);
  const auto [end, error] = std::from_chars(front.data(), front.data() + front.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - front.data()));
  return value;
}

bool take(std::string_view& text, char wanted) {
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

// Takes a decimal fraction, ".25", of `unit`; 0 if there is none. Digits that make less than 1 are
// dropped.
u64 take_fraction(std::string_view& text, u64 unit) {
  if (text.size() < 2 || text[0] != '.' || text[1] < '0' || text[1] > '9') return 0;
  text.remove_prefix(1);
  u64 value = 0;
  for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) {
    unit /= 10;
    value += unit * static_cast<u64>(text[0] - '0');
  }
  return value;
}

// A number with exactly `digits` digits, in [least, most].
std::optional<u64> take_field(std::string_view& text, std::size_t digits, u64 least, u64 most) {
  const std::size_t before = text.size();
  const auto value = take_number(text, digits);
  if (!value || before - text.size() != digits || *value < least || *value > most)
    return std::nullopt;
  return value;
}

// Minutes east of UTC: Z, +02:00, or nothing.
std::optional<i64> take_zone(std::string_view& text) {
  if (text.empty() || take(text, 'Z') || take(text, 'z')) return 0;
  const bool west = text.starts_with('-');
  if (!west && !text.starts_with('+')) return std::nullopt;
  text.remove_prefix(1);
  const auto hours = take_field(text, 2, 0, 23);
  if (!hours || !take(text, ':')) return std::nullopt;
  const auto minutes = take_field(text, 2, 0, 59);
  if (!minutes) return std::nullopt;
  const i64 east = static_cast<i64>(60 * *hours + *minutes);
  return west ? -east : east;
}

std::optional<Instant> parse_calendar(std::string_view text) {
  using std::chrono::sys_days;
  const auto year = take_field(text, 4, 1970, 2500);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_field(text, 2, 1, 12);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_field(text, 2, 1, 31);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  i64 seconds = i64{86400} * sys_days(date).time_since_epoch().count();
  u64 fraction = 0;
  if (take(text, 'T') || take(text, 't') || take(text, ' ')) {
    const auto hour = take_field(text, 2, 0, 23);
    if (!hour || !take(text, ':')) return std::nullopt;
    const auto minute = take_field(text, 2, 0, 59);
    if (!minute) return std::nullopt;
    std::optional<u64> second = 0;
    if (take(text, ':')) {
      second = take_field(text, 2, 0, 60);
      if (!second) return std::nullopt;
      fraction = take_fraction(text, kSecond);
    }
    const auto east = take_zone(text);
    if (!east) return std::nullopt;
    seconds += static_cast<i64>(3600 * *hour + 60 * *minute + *second) - 60 * *east;
  }
  if (!text.empty() || seconds < 0) return std::nullopt;
  return Instant{static_cast<u64>(seconds) * kSecond + fraction};
}

std::optional<u64> unit_of(std::string_view name) {
  struct Unit {
    std::string_view name;
    u64 ns;
  };
  constexpr Unit kUnits[] = {{"", kSecond},        {"ns", 1},      {"us", 1000},
                             {"ms", 1'000'000},    {"s", kSecond}, {"min", 60 * kSecond},
                             {"h", 3600 * kSecond}};
  for (const Unit& unit : kUnits)
    if (unit.name == name) return unit.ns;
  return std::nullopt;
}

// "1.5s": the unit stands behind the number that it counts.
std::optional<u64> parse_span(std::string_view text) {
  const std::size_t end = std::min(text.find_first_not_of("0123456789."), text.size());
  const auto unit = unit_of(text.substr(end));
  std::string_view number = text.substr(0, end);
  const auto whole = take_number(number, number.size());
  if (!unit || !whole || *whole > kMostSeconds * kSecond / *unit) return std::nullopt;
  const u64 fraction = take_fraction(number, *unit);
  if (!number.empty()) return std::nullopt;
  return *whole * *unit + fraction;
}

}  // namespace

std::optional<Instant> parse_instant(std::string_view text) {
  const bool from_begin = take(text, '+');
  if (!from_begin && text.find('-') != std::string_view::npos) return parse_calendar(text);
  const auto span = parse_span(text);
  if (!span) return std::nullopt;
  return Instant{*span, from_begin};
}

}  // namespace rocetrace
