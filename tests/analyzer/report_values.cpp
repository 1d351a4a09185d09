// SPDX-License-Identifier: BSD-3-Clause
// Times, units and text that has to be made harmless.

#include <gtest/gtest.h>

#include "report/columns.hpp"
#include "report/human.hpp"
#include "report/sink.hpp"
#include "report/text_value.hpp"

namespace rocetrace {
namespace {

TEST(TimeText, EpochAndItsEnds) {
  EXPECT_EQ(time_text(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(time_text(951'782'400'000'000'000), "2000-02-29T00:00:00.000000000Z");
  EXPECT_EQ(time_text(1'709'251'199'999'999'999), "2024-02-29T23:59:59.999999999Z");
  EXPECT_EQ(time_text(4'107'542'400'000'000'000), "2100-03-01T00:00:00.000000000Z");
  EXPECT_EQ(time_text(~roce::u64{0}), "2554-07-21T23:34:33.709551615Z");
}

TEST(Utf8, OnlyWellFormedSequencesCount) {
  EXPECT_EQ(utf8_length("a"), 1u);
  EXPECT_EQ(utf8_length("é"), 2u);
  EXPECT_EQ(utf8_length("€"), 3u);
  EXPECT_EQ(utf8_length("\xf0\x9f\x98\x80"), 4u);
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_EQ(utf8_length("\x80"), 0u);
  EXPECT_EQ(utf8_length("\xc0\xaf"), 0u);          // overlong
  EXPECT_EQ(utf8_length("\xe0\x80\xaf"), 0u);      // overlong
  EXPECT_EQ(utf8_length("\xed\xa0\x80"), 0u);      // surrogate
  EXPECT_EQ(utf8_length("\xf4\x90\x80\x80"), 0u);  // over U+10FFFF
  EXPECT_EQ(utf8_length("\xe2\x82"), 0u);          // cut
  EXPECT_EQ(utf8_length("\xff"), 0u);
}

TEST(Printable, TerminalEscapesAreSpelledOut) {
  EXPECT_EQ(printable("a\x1b[31mred"), "a\\x1b[31mred");
  EXPECT_EQ(printable("two\nlines\t\x7f"), "two\\x0alines\\x09\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");  // the one-byte form of ESC [
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "txt"),
            "\\u202etxt");  // right to left
  EXPECT_EQ(printable("naïve \xff"), "naïve \xef\xbf\xbd");
}

TEST(Human, CountsKeepThreeDigits) {
  EXPECT_EQ(human::count(roce::u64{0}), "0");
  EXPECT_EQ(human::count(roce::u64{999}), "999");
  EXPECT_EQ(human::count(roce::u64{1000}), "1k");
  EXPECT_EQ(human::count(roce::u64{12'345}), "12.3k");
  EXPECT_EQ(human::count(roce::u64{999'600}), "1M");
  EXPECT_EQ(human::count(0.25), "0.25");
  EXPECT_EQ(human::grouped(1'234'567), "1,234,567");
  EXPECT_EQ(human::grouped(123), "123");
}

TEST(Human, DurationsPickTheirUnit) {
  EXPECT_EQ(human::duration(0), "0 ns");
  EXPECT_EQ(human::duration(1500), "1.5 us");
  EXPECT_EQ(human::duration(67'108'864), "67.1 ms");
  EXPECT_EQ(human::duration(12'340'000'000), "12.3 s");
  EXPECT_EQ(human::duration(245'000'000'000), "4 min 05 s");
  EXPECT_EQ(human::duration(11'520'000'000'000), "3 h 12 min");
}

TEST(Human, SharesAreNeverRoundedToNothingOrAll) {
  EXPECT_EQ(human::share(0, 10), "0 %");
  EXPECT_EQ(human::share(10, 10), "100 %");
  EXPECT_EQ(human::share(1, 1'000'000), "<0.01 %");
  EXPECT_EQ(human::share(999'999, 1'000'000), ">99.9 %");
  EXPECT_EQ(human::share(3, 100), "3.0 %");
  EXPECT_EQ(human::share(1, 0), "-");
}

TEST(Human, RatesAndBytes) {
  EXPECT_EQ(human::bit_rate(25.1e9), "25.1 Gbit/s");
  EXPECT_EQ(human::bytes(1536), "1.54 kB");
}

TEST(Columns, LongAddressesLoseTheirMiddle) {
  EXPECT_EQ(shortened("2001:db8:1111:2222:3333:4444:5555:6666", 20), "2001:db8:..5555:6666");
  EXPECT_EQ(shortened("short", 20), "short");
}

TEST(Columns, LinesFitTheWidth) {
  Columns table{{{"source", Columns::Align::left, true},
                 {"destination", Columns::Align::left, true},
                 {"packets"}}};
  table.add(
      {"2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8:1111:2222:3333:4444:5555:7777", "12"});
  std::string text;
  Sink out = Sink::memory(text);
  table.write(out, 60, false);
  out.commit();
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(end - begin, 60u);
}

TEST(Columns, WhatSaysNothingGoesFirstAndWhatIsSpareLast) {
  Columns table{{{"source", Columns::Align::left, true},
                 {"type", Columns::Align::left, false, true},
                 {"packets"},
                 {"nothing"}}};
  table.add({"a-long-name-of-a-host", "RC", "12", "-"});
  const auto titles = [&](unsigned width) {
    std::string text;
    Sink out = Sink::memory(text);
    table.write(out, width, false);
    out.commit();
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(titles(60), "  source                 type  packets  nothing");
  EXPECT_EQ(titles(40), "  source                type packets");
  EXPECT_EQ(titles(28), "  source        type packets");
  EXPECT_EQ(titles(24), "  source        packets");
}

TEST(Wrapped, BreaksAtSpacesAndIndents) {
  std::string text;
  Sink out = Sink::memory(text);
  write_wrapped(out, "  - ", "one two three four", 12);
  out.commit();
  EXPECT_EQ(text, "  - one two\n    three\n    four\n");
}

}  // namespace
}  // namespace rocetrace
