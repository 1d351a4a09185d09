// SPDX-License-Identifier: BSD-3-Clause
// Looking at a part of the captures, and writing it as one.

#include "selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "analyze.hpp"
#include "analyzer/capture_files.hpp"
#include "cut.hpp"
#include "find_captures.hpp"
#include "report/packet_row.hpp"
#include "report/progress.hpp"
#include "report/sink.hpp"
#include "selected_flows.hpp"
#include "support/packet.hpp"

namespace rocetrace::test {
namespace {

using roce::test::Packet;
using testing::ElementsAre;
using testing::HasSubstr;

// One packet per second from 1000 s on: a connection of QPs 0x11 and 0x12 in VLAN 7, and another
// of QPs 0x21 and 0x22 without.
const std::string kHostA = "10.0.0.1", kHostB = "10.0.0.2", kHostC = "fe80::3", kHostD = "fe80::4";

Octets file() {
  PcapFile out;
  out.begin();
  u32 second = 1000;
  for (u32 psn = 0; psn < 4; psn++) {
    const std::vector<u16> tags = {7};
    for (const Packet& packet : {Packet{.opcode = 0x04,
                                .dest_qp = 0x11,
                                .psn = psn,
                                .ack_requested = true,
                                .source = kHostA,
                                .destination = kHostB,
                                .vlans = tags},
                                 Packet{.opcode = 0x11,
                                 .dest_qp = 0x12,
                                 .psn = psn,
                                 .source = kHostB,
                                 .destination = kHostA,
                                 .vlans = tags},
                                 Packet{.opcode = 0x04,
                                 .dest_qp = 0x21,
                                 .psn = psn,
                                 .ack_requested = true,
                                 .source = kHostC,
                                 .destination = kHostD},
                                 Packet{.opcode = 0x11,
                                 .dest_qp = 0x22,
                                 .psn = psn,
                                 .source = kHostD,
                                 .destination = kHostC}})
      out.record(second++, 0, packet.frame());
  }
  return out.octets;
}

// As a user types it.
Options asked(std::vector<const char*> words) {
  words.insert(words.begin(), {"rocetrace", "cut", "trace.pcap", "-o", "part.pcapng"});
  return parse_options(static_cast<int>(words.size()), words.data());
}

std::vector<u64> numbers(Options options) {
  const TemporaryFile capture(file());
  options.captures = {capture.path()};
  SelectedTrace trace(options);
  std::vector<u64> out;
  for (const Seen& frame : read_all(trace)) out.push_back(frame.number);
  EXPECT_EQ(trace.left_out(0).value_or(0), 16 - out.size());
  return out;
}

TEST(Selection, ATimeSpanHoldsItsEnds) {
  EXPECT_THAT(numbers(asked({"--from", "1002", "--to", "1003"})), ElementsAre(3, 4));
  EXPECT_THAT(numbers(asked({"--to", "+1.5s"})), ElementsAre(1, 2));
  EXPECT_THAT(numbers(asked({"--from", "+15"})), ElementsAre(16));
}

TEST(Selection, AVlanIsAnyTag) {
  EXPECT_THAT(numbers(asked({"--vlan", "6", "--vlan", "7", "--to", "+7s"})),
              ElementsAre(1, 2, 5, 6));
}

TEST(Selection, AFilterJoinsTheRest) {
  EXPECT_THAT(numbers(asked({"--filter", "ip6 src host fe80::3", "--to", "+7s"})),
              ElementsAre(3, 7));
}

TEST(Selection, WithoutOneEverythingIsThere) {
  EXPECT_EQ(numbers(asked({})).size(), 16u);
}

TEST(Selection, QpsAndHostsBringTheirPartners) {
  const TemporaryFile capture(file());
  const auto selected = [&](Options options) {
    options.captures = {capture.path()};
    TraceState state(options);
    Progress progress(false);
    state.run(progress);
    return selected_flows(state, options);
  };
  EXPECT_THAT(selected(asked({"--qp", "0x12"})), ElementsAre(1u, 2u));
  EXPECT_THAT(selected(asked({"--host", "fe80:0:0:0:0:0:0:3"})), ElementsAre(3u, 4u));
  EXPECT_THAT(selected(asked({"--host", "10.0.0.0/8"})), ElementsAre(1u, 2u));
  EXPECT_THAT(selected(asked({"--qp", "0x11", "--host", "fe80::3"})), ElementsAre());
}

TEST(Selection, TheListingObeysIt) {
  const TemporaryFile capture(file());
  const auto lines = [&](Options options) {
    options.captures = {capture.path()};
    Progress progress(false);
    std::string text;
    Sink out = Sink::memory(text);
    list_packets(options, *packet_format("ndjson"), out, progress);
    out.commit();
    return std::ranges::count(text, '\n');
  };
  EXPECT_EQ(lines(asked({})), 16);
  EXPECT_EQ(lines(asked({"--qp", "0x12"})), 8);
  EXPECT_EQ(lines(asked({"--host", "fe80::3", "--from", "1004"})), 6);
  EXPECT_EQ(lines(asked({"--qp", "0x99"})), 0);
}

class Cut : public testing::Test {
 protected:
  std::vector<Seen> cut_out(Options options) {
    options.captures = {capture_.path()};
    options.outputs = {capture_.path() + ".pcapng"};
    Progress progress(false);
    const u64 frames = cut(options, progress);
    Capture written(options.outputs.front());
    std::vector<Seen> seen = read_all(written);
    EXPECT_EQ(seen.size(), frames);
    std::filesystem::remove(options.outputs.front());
    return seen;
  }
  const TemporaryFile capture_{file()};
};

TEST_F(Cut, KeepsTimesAndBytes) {
  Capture capture(capture_.path());
  const std::vector<Seen> whole = read_all(capture);
  const std::vector<Seen> part = cut_out(asked({"--from", "1005"}));
  ASSERT_EQ(part.size(), 11u);
  for (std::size_t i = 0; i < part.size(); i++) {
    EXPECT_EQ(part[i].time, whole[i + 5].time);
    EXPECT_EQ(part[i].bytes, whole[i + 5].bytes);
  }
}

TEST_F(Cut, OfAQpHoldsBothDirections) {
  EXPECT_EQ(cut_out(asked({"--qp", "0x21"})).size(), 8u);
  EXPECT_EQ(cut_out(asked({"--qp", "0x21", "--to", "+3.5s"})).size(), 2u);
}

TEST(FindCaptures, AnOutputMustNotBeACapture) {
  const TemporaryFile capture(file());
  Options options;
  options.captures = options.outputs = {capture.path()};
  try {
    find_captures(options);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("overwritten"));
  }
}

TEST(FindCaptures, PatternsAreReplacedByFiles) {
  const TemporaryFile capture(file());
  Options options;
  options.captures = {capture.path() + "*"};
  EXPECT_THAT(find_captures(options).captures, ElementsAre(capture.path()));
}

}  // namespace
}  // namespace rocetrace::test
