// SPDX-License-Identifier: BSD-3-Clause
// Times as users type them.

#include "instant.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rocetrace {
namespace {

constexpr roce::u64 kNoon = 1714996800'000'000'000;  // 2024-05-06T12:00:00Z

std::string read(std::string_view text) {
  const auto instant = parse_instant(text);
  if (!instant) return "none";
  return (instant->from_begin ? "+" : "") + std::to_string(instant->ns);
}

TEST(Instant, TakesCalendarTimes) {
  const std::string noon = std::to_string(kNoon);
  for (const char* text :
       {"2024-05-06T12:00:00Z", "2024-05-06T12:00:00.000Z", "2024-05-06 12:00:00",
        "2024-05-06T12:00", "2024-05-06T14:00:00+02:00", "2024-05-06T06:30:00-05:30"})
    EXPECT_EQ(read(text), noon) << text;
  EXPECT_EQ(read("2024-05-06T12:00:00.000000001Z"), std::to_string(kNoon + 1));
  EXPECT_EQ(read("2024-05-06"), std::to_string(kNoon - 43'200'000'000'000));
}

TEST(Instant, TakesSeconds) {
  EXPECT_EQ(read("1714996800"), std::to_string(kNoon));
  EXPECT_EQ(read("1714996800.000000001"), std::to_string(kNoon + 1));
  EXPECT_EQ(read("0"), "0");
}

TEST(Instant, TakesDistancesFromTheFirstPacket) {
  EXPECT_EQ(read("+1.5s"), "+1500000000");
  EXPECT_EQ(read("+2"), "+2000000000");
  EXPECT_EQ(read("+250us"), "+250000");
  EXPECT_EQ(read("+0.5ms"), "+500000");
  EXPECT_EQ(read("+2min"), "+120000000000");
  EXPECT_EQ(read("+1h"), "+3600000000000");
}

TEST(Instant, RefusesEverythingElse) {
  for (const char* text :
       {"", "+", "yesterday", "12:00", "2024-13-01", "2024-02-30", "2024-05-06T",
        "2024-05-06T25:00", "2024-05-06T12:00:00X", "2024-05-06T12:00:00+2", "2024-5-6", "+1.5x",
        "+1.5.5s", "1.s", "-5", "1969-12-31", "99999999999999999999", "+999999999999h", "1 s"})
    EXPECT_EQ(read(text), "none") << text;
}

TEST(Instant, ADistanceCannotPassTheEndOfTime) {
  EXPECT_EQ(Instant({~roce::u64{0}, true}).in_trace(kNoon), ~roce::u64{0});
  EXPECT_EQ(Instant({5, true}).in_trace(kNoon), kNoon + 5);
  EXPECT_EQ(Instant({5, false}).in_trace(kNoon), 5u);
}

}  // namespace
}  // namespace rocetrace
