// SPDX-License-Identifier: BSD-3-Clause
// Traces that hold what two taps saw of the same packets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "findings/catalog.hpp"
#include "fixture.hpp"

namespace rocetrace::test {
namespace {

using testing::HasSubstr;

Report analyzed_together(const Frames& frames, const Frames& more) {
  const CaptureFile one, other;
  frames.write(one.path());
  more.write(other.path());
  Options options;
  options.captures = {one.path(), other.path()};
  Progress progress{false};
  return std::move(analyze(options, progress).report);
}

constexpr u32 kCount = 100, kLost = 40;

// What one tap saw of a recovery: in front of where PSN kLost gets lost, or behind it. Every packet
// keeps its IP identification from tap to tap.
void see(Frames& frames, bool in_front, std::chrono::nanoseconds clock,
         std::chrono::nanoseconds path) {
  const Ends ends;
  u16 id = 0;
  auto time = clock + (in_front ? 0us : path);
  const auto add = [&](Packet packet, bool seen = true) {
    packet.ip_id = ++id;
    time += 10us;
    if (seen) frames.add(packet, time);
  };
  for (u32 psn = 0; psn < kLost; psn++) {
    add(ends.send(psn));
    add(ends.ack(psn));
  }
  add(ends.send(kLost), in_front);
  add(ends.send(kLost + 1));
  add(ends.nak(kLost));
  for (u32 psn = kLost; psn < kCount; psn++) {
    add(ends.send(psn));
    add(ends.ack(psn));
  }
}

TEST(Taps, TwoFilesAreJudgedByOneOfThem) {
  for (const auto clock : {-300ms, -1ms, 0ms, 700ms}) {
    Frames front, behind;
    see(front, true, 1s, 5us);
    see(behind, false, 1s + clock, 5us);
    const Report together = analyzed_together(front, behind);
    EXPECT_EQ(together.totals.retransmissions, 2);
    EXPECT_EQ(together.totals.missing_psns, 0);
    EXPECT_EQ(together.totals.naks, 1);
    EXPECT_EQ(together.totals.half_flows, 2);
    EXPECT_EQ(together.totals.packets, 4 * kCount + 5);
    ASSERT_EQ(together.captures[1].notes.size(), 1u);
    EXPECT_THAT(together.captures[1].notes[0], HasSubstr("202 packets"));
    EXPECT_TRUE(together.captures[0].notes.empty());
  }
}

TEST(Taps, FilesOfARingAreNoTwins) {
  Frames frames[2];
  const Ends ends;
  for (u32 psn = 0; psn < kCount; psn++) {
    Frames& half = frames[psn < kCount / 2 ? 0 : 1];
    half.add(ends.send(psn), 1s + psn * 20us).add(ends.ack(psn), 1s + psn * 20us + 10us);
  }
  const Report together = analyzed_together(frames[0], frames[1]);
  EXPECT_TRUE(together.captures[0].notes.empty());
  EXPECT_TRUE(together.captures[1].notes.empty());
  EXPECT_EQ(together.totals.retransmissions, 0);
  EXPECT_EQ(together.totals.missing_psns, 0);
}

// Where nothing identifies packets, a resend in the next file looks like a copy of its original.
TEST(Taps, ResendsInTheNextFileAreNoTwins) {
  Frames frames[2];
  const Ends ends;
  auto time = 1s + 0us;
  const auto add = [&](Frames& file, Packet packet) {
    packet.ip_id = 1;
    file.add(packet, time += 10us);
  };
  for (u32 psn = 0; psn < 64; psn++) add(frames[0], ends.send(psn));
  add(frames[0], ends.nak(0));
  for (u32 psn = 0; psn < 64; psn++) add(frames[1], ends.send(psn));
  add(frames[1], ends.ack(63));
  const Report together = analyzed_together(frames[0], frames[1]);
  EXPECT_EQ(together.totals.retransmissions, 64);
  EXPECT_TRUE(together.captures[0].notes.empty());
  EXPECT_TRUE(together.captures[1].notes.empty());
}

// Requests by the one link, answers by the other, as bonded ports give them.
TEST(Taps, OneDirectionEachAreNoTwins) {
  Frames requests, answers;
  const Ends ends;
  for (u32 psn = 0; psn < kCount; psn++) {
    requests.add(ends.send(psn), 1s + psn * 20us);
    answers.add(ends.ack(psn), 1s + psn * 20us + 10us);
  }
  const Report together = analyzed_together(requests, answers);
  EXPECT_EQ(together.totals.half_flows, 2);
  EXPECT_TRUE(together.captures[0].notes.empty());
  EXPECT_TRUE(together.captures[1].notes.empty());
}

// Only the second tap saw the second pair of hosts: it is not forgotten.
TEST(Taps, WhatOneTapAloneSawIsJudged) {
  Frames front, behind;
  see(front, true, 1s, 5us);
  see(behind, false, 1s, 5us);
  const Ends others{.a = "10.0.0.3", .b = "10.0.0.4", .qp_a = 0x33, .qp_b = 0x44};
  for (u32 psn = 0; psn < kCount; psn++)
    behind.add(others.send(psn), 1s + psn * 20us).add(others.ack(psn), 1s + psn * 20us + 10us);
  const Report together = analyzed_together(front, behind);
  EXPECT_EQ(together.totals.half_flows, 4);
  EXPECT_EQ(together.totals.retransmissions, 2);
}

TEST(Taps, TwoInOneFileWithTwoClocksCannotBeJudged) {
  Frames both;
  see(both, true, 1s, 5us);
  see(both, false, 1s + 300ms, 5us);
  const Report report = analyzed(both);
  EXPECT_EQ(report.totals.retransmissions, std::nullopt);
  EXPECT_EQ(report.totals.missing_psns, std::nullopt);
  EXPECT_EQ(report.captures[0].trust, Trust::low);
  EXPECT_THAT(text(report, "capture.two_taps"), HasSubstr("300 ms apart"));
  for (const CatalogEntry* entry : catalog())
    for (const FindingKind& kind : entry->kinds) {
      if (!kind.needs.has(Need::one_tap)) continue;
      EXPECT_TRUE(unjudged(report, kind.id)) << kind.id;
      EXPECT_FALSE(has(report, kind.id)) << kind.id;
    }
}

TEST(Taps, TwoClocksLeaveNoTimes) {
  Frames both;
  see(both, true, 1s, 5us);
  see(both, false, 1s + 300ms, 5us);
  const CaptureFile file;
  both.write(file.path());
  Options options;
  options.captures = {file.path()};
  Progress progress{false};
  const Analysis analysis = analyze(options, progress);
  ASSERT_EQ(analysis.report.connections.size(), 1u);
  const ConnectionRow row = analysis.report.connections.at(0);
  EXPECT_EQ(row.ack_latency, std::nullopt);
  EXPECT_EQ(row.message_time, std::nullopt);
  EXPECT_EQ(row.nak_generation, std::nullopt);
  EXPECT_TRUE(analysis.report.message_times.empty());
}

// Close clocks leave the order of the packets as it was: copies are told one by one.
TEST(Taps, TwoInOneFileWithOneClockAreJudged) {
  Frames both;
  see(both, true, 1s, 3us);
  see(both, false, 1s, 3us);
  const Report report = analyzed(both);
  EXPECT_EQ(report.totals.retransmissions, 2);
  EXPECT_EQ(report.totals.naks, 1);
  EXPECT_TRUE(has(report, "capture.duplicates"));
}

// Some NICs give all packets the same IP identification: then a resend looks like its original.
TEST(Taps, ResendsAreNoCopies) {
  Frames frames;
  const Ends ends;
  auto time = 1s + 0us;
  const auto add = [&](Packet packet) {
    packet.ip_id = 1;
    frames.add(packet, time += 10us);
  };
  for (u32 round = 0; round < 2; round++) {
    for (u32 psn = 0; psn < 64; psn++) add(ends.send(psn));
    time += 70ms;
  }
  add(ends.ack(63));
  const Report report = analyzed(frames);
  EXPECT_EQ(report.totals.retransmissions, 64);
}

TEST(Taps, RepeatsForWantOfReceiveBuffersAreNoCopies) {
  Frames frames;
  const Ends ends;
  auto time = 1s + 0us;
  const auto add = [&](Packet packet) {
    packet.ip_id = 1;
    frames.add(packet, time += 10us);
  };
  for (u32 psn = 0; psn < 4; psn++) {
    for (u32 round = 0; round < 7; round++) {
      add(ends.send(psn));
      add(ends.ack(psn, 0x20 | 14));  // RNR NAK
      time += 1ms;
    }
    add(ends.send(psn));
    add(ends.ack(psn));
  }
  const Report report = analyzed(frames);
  EXPECT_EQ(report.totals.retransmissions, 28);
  EXPECT_EQ(report.totals.rnr_naks, 28);
}

}  // namespace
}  // namespace rocetrace::test
