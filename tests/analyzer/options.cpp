// SPDX-License-Identifier: BSD-3-Clause
// The command line, as users type it.

#include "options.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace rocetrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Options parsed(std::vector<const char*> words) {
  words.insert(words.begin(), "rocetrace");
  return parse_options(static_cast<int>(words.size()), words.data());
}

std::string refusal(std::vector<const char*> words) {
  try {
    parsed(std::move(words));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Options, AnalyzeHasDefaults) {
  const Options options = parsed({"analyze", "a.pcap"});
  EXPECT_EQ(options.command, Command::analyze);
  EXPECT_THAT(options.captures, ElementsAre("a.pcap"));
  EXPECT_EQ(options.format, "text");
  EXPECT_EQ(options.fail_on, "");
  EXPECT_EQ(options.threads, 0u);
  EXPECT_EQ(options.max_flows, std::nullopt);
  EXPECT_TRUE(options.progress);
}

TEST(Options, SeveralCapturesAreOneTrace) {
  EXPECT_THAT(parsed({"analyze", "a.pcap", "-", "b.pcap"}).captures,
              ElementsAre("a.pcap", "-", "b.pcap"));
}

TEST(Options, RepeatableOptionsLeaveTheCapturesAlone) {
  const Options options = parsed({"analyze", "--qp", "0x11", "a.pcap", "--qp", "18", "--host",
                                  "10.0.0.1", "b.pcap", "-o", "x.json", "--output", "y.csv"});
  EXPECT_THAT(options.captures, ElementsAre("a.pcap", "b.pcap"));
  EXPECT_THAT(options.qps, ElementsAre(0x11, 18));
  EXPECT_THAT(options.hosts, ElementsAre("10.0.0.1"));
  EXPECT_THAT(options.outputs, ElementsAre("x.json", "y.csv"));
}

TEST(Options, NumbersAreDecimalOrHexadecimal) {
  const Options options =
      parsed({"analyze", "a", "--max-flows=0x100", "--threads", "2", "--qp=0XffFFff"});
  EXPECT_EQ(options.max_flows, 256u);
  EXPECT_EQ(options.threads, 2u);
  EXPECT_THAT(options.qps, ElementsAre(0xffffff));
}

TEST(Options, FilterMayHoldSpaces) {
  EXPECT_EQ(parsed({"analyze", "a", "--filter", "udp port 4791 and host 10.0.0.1"}).filter,
            "udp port 4791 and host 10.0.0.1");
}

TEST(Options, PacketsHasFormatsOfItsOwn) {
  const Options options = parsed({"packets", "a", "--format", "ndjson", "--no-progress"});
  EXPECT_EQ(options.command, Command::packets);
  EXPECT_EQ(options.format, "ndjson");
  EXPECT_FALSE(options.progress);
  EXPECT_THAT(refusal({"packets", "a", "--format", "json"}), HasSubstr("json"));
}

TEST(Options, ExplainTakesOneWordOrNone) {
  EXPECT_EQ(parsed({"explain", "spurious"}).topic, "spurious");
  EXPECT_EQ(parsed({"explain"}).topic, "");
}

TEST(Options, HelpAndVersionAreText) {
  EXPECT_THAT(parsed({"--version"}).message, HasSubstr("rocetrace "));
  EXPECT_THAT(parsed({"--help"}).message, AllOf(HasSubstr("Examples:"), HasSubstr("analyze")));
  const Options help = parsed({"analyze", "--help"});
  EXPECT_EQ(help.command, Command::print);
  EXPECT_THAT(help.message, AllOf(HasSubstr("--fail-on"), HasSubstr("ndjson")));
}

TEST(Options, WhatIsWrongIsSaidInOneLine) {
  const std::vector<std::pair<std::vector<const char*>, const char*>> cases = {
      {{}, "subcommand"},
      {{"analyse", "a"}, "analyse"},
      {{"analyze"}, "CAPTURE"},
      {{"analyze", "a", "--qp", "0x1000000"}, "0x1000000"},
      {{"analyze", "a", "--qp", "-1"}, "--qp"},
      {{"analyze", "a", "--qp", "12x"}, "12x"},
      {{"analyze", "a", "--qp", ""}, "--qp"},
      {{"analyze", "a", "--threads", "0"}, "--threads"},
      {{"analyze", "a", "--max-flows", "99999999999999999999"}, "--max-flows"},
      {{"analyze", "a", "--format", "xml"}, "xml"},
      {{"analyze", "a", "--fail-on", "fatal"}, "fatal"},
      {{"analyze", "a", "-o", "report.doc"}, "report.doc"},
      {{"analyze", "a", "--nonsense"}, "--nonsense"},
      {{"analyze", "a", "--host", "leaf1"}, "leaf1"},
      {{"analyze", "a", "--vlan", "4096"}, "4096"},
      {{"analyze", "a", "--from", "yesterday"}, "yesterday"},
      {{"cut", "a"}, "--output"},
      {{"cut", "a", "-o", "b.pcap"}, "b.pcap"},
  };
  for (const auto& [words, expected] : cases)
    EXPECT_THAT(refusal(words), AllOf(HasSubstr(expected), Not(HasSubstr("\n"))));
}

TEST(Options, SelectionIsReadAndRepeats) {
  const Options options = parsed({"cut", "a", "-o", "b.pcapng", "--vlan", "7", "--vlan", "0x8",
                                  "--host", "fe80::1", "--host", "10.0.0.0/24", "--from", "+1.5s",
                                  "--to", "1970-01-01T00:01:00Z", "--filter", "udp"});
  EXPECT_EQ(options.command, Command::cut);
  EXPECT_THAT(options.outputs, ElementsAre("b.pcapng"));
  EXPECT_THAT(options.vlans, ElementsAre(7u, 8u));
  EXPECT_THAT(options.hosts, ElementsAre("fe80::1", "10.0.0.0/24"));
  EXPECT_EQ(options.from, (Instant{1'500'000'000, true}));
  EXPECT_EQ(options.to, (Instant{60'000'000'000, false}));
  EXPECT_EQ(options.filter, "udp");
}

}  // namespace
}  // namespace rocetrace
