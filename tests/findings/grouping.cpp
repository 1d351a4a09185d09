// SPDX-License-Identifier: BSD-3-Clause
// The same cause over many queue pairs is one finding; what a user sets decides; what cannot be
// judged is said; subnets are compared.

#include "fixture.hpp"

namespace rocetrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

// A queue pair that loses every fourth packet behind the tap, beginning at `start`.
void add_lossy(Frames& frames, const Ends& ends, std::chrono::nanoseconds start = 0s) {
  for (u32 psn = 0; psn < 16; psn += 4) {
    const auto now = start + psn * 50us;
    for (u32 k = 0; k < 4; k++) frames.add(ends.send(psn + k), now + k * 1us);
    frames.add(ends.nak(psn + 2), now + 20us);
    for (u32 k = 2; k < 4; k++) frames.add(ends.send(psn + k), now + 40us + k * 1us);
    frames.add(ends.ack(psn + 3), now + 60us);
  }
}
void add_clean(Frames& frames, const Ends& ends, std::chrono::nanoseconds latency = 10us) {
  for (u32 psn = 0; psn < 20; psn++)
    frames.add(ends.send(psn), psn * 1ms).add(ends.ack(psn), psn * 1ms + latency);
}

std::string host(unsigned subnet, unsigned number) {
  return fmt::format("10.0.{}.{}", subnet, number);
}

std::ptrdiff_t count_of(const Report& report, std::string_view id) {
  return std::ranges::count(report.findings, id, &FindingRow::id);
}

TEST(Grouping, ByResponder) {
  Frames frames;
  for (u32 i = 0; i < 6; i++)
    add_lossy(frames, {.a = host(i, 1), .b = host(9, 9), .qp_b = 0x22 + i}, i * 1us);
  const Report report = analyzed(frames);
  ASSERT_EQ(count_of(report, "loss.retransmission"), 1);
  const FindingRow& row = *find(report, "loss.retransmission");
  EXPECT_THAT(row.scope.host, Optional(host(9, 9)));
  EXPECT_EQ(row.count, 48u);
  EXPECT_EQ(evidence(report, row.id, "grouped_by"), "responder");
  EXPECT_EQ(evidence(report, row.id, "half_flows"), "6");
  EXPECT_THAT(row.text, HasSubstr("6 half-flows to 10.0.9.9: 48 in all. The worst: "));
}

TEST(Grouping, BySender) {
  Frames frames;
  for (u32 i = 0; i < 6; i++)
    add_lossy(frames, {.a = host(9, 9), .b = host(i, 1), .qp_b = 0x22 + i}, i * 1us);
  const Report report = analyzed(frames);
  ASSERT_EQ(count_of(report, "loss.retransmission"), 1);
  const FindingRow& row = *find(report, "loss.retransmission");
  EXPECT_THAT(row.scope.host, Optional(host(9, 9)));
  EXPECT_EQ(evidence(report, row.id, "grouped_by"), "sender");
  EXPECT_THAT(row.text, HasSubstr("6 half-flows from 10.0.9.9"));
}

TEST(Grouping, ByHostPair) {
  Frames frames;
  for (u32 i = 0; i < 6; i++)
    add_lossy(frames, {.a = host(1, 1), .b = host(1, 2), .qp_a = 0x11 + i, .qp_b = 0x22 + i},
              i * 1us);
  const Report report = analyzed(frames);
  ASSERT_EQ(count_of(report, "loss.retransmission"), 1);
  const FindingRow& row = *find(report, "loss.retransmission");
  EXPECT_THAT(row.scope.hosts, Optional(ElementsAre(host(1, 1), host(1, 2))));
  EXPECT_EQ(evidence(report, row.id, "grouped_by"), "host_pair");
}

TEST(Grouping, BySubnetPair) {
  Frames frames;
  for (u32 i = 0; i < 8; i++)
    add_lossy(frames, {.a = host(1, 1 + i), .b = host(2, 1 + i), .qp_b = 0x22 + i}, i * 1us);
  const Report report = analyzed(frames);
  ASSERT_EQ(count_of(report, "loss.retransmission"), 1);
  const FindingRow& row = *find(report, "loss.retransmission");
  EXPECT_EQ(evidence(report, row.id, "grouped_by"), "subnet_pair");
  EXPECT_THAT(row.text, HasSubstr("8 half-flows from subnet 10.0.1.0/24 to 10.0.2.0/24"));

  Options options;
  options.ipv4_prefix = 16;
  EXPECT_THAT(text(analyzed(frames, options), "loss.retransmission"),
              HasSubstr("from subnet 10.0.0.0/16 to 10.0.0.0/16"));
}

TEST(Grouping, ByClass) {
  Frames frames;
  for (u32 i = 0; i < 8; i++)
    add_lossy(frames, {.a = host(i, 1), .b = host(20 + i, 1), .qp_b = 0x22 + i, .tos = 8 << 2 | 2},
              i * 1us);
  // One of another class, since what all have in common explains nothing.
  add_lossy(frames, {.a = host(40, 1), .b = host(41, 1), .qp_b = 0x80}, 8us);
  const Report report = analyzed(frames);
  ASSERT_EQ(count_of(report, "loss.retransmission"), 2);
  const auto grouped = std::ranges::find_if(report.findings, [](const FindingRow& row) {
    return row.id == "loss.retransmission" && !row.scope.half_flow;
  });
  ASSERT_NE(grouped, report.findings.end());
  EXPECT_THAT(grouped->text, HasSubstr("8 half-flows with DSCP 8"));
}

// Eight pairs of hosts that lose packets in VLAN priority 3, each `apart` later than the one
// before, and have other queue pairs that lose none in priority `of_others`.
Report in_priorities(u16 of_others, std::chrono::nanoseconds apart = 1us) {
  const auto tag = [](u16 priority) { return static_cast<u16>(priority << 13 | 100); };
  Frames frames;
  for (u32 i = 0; i < 8; i++) {
    Ends ends{.a = host(1, 1 + i), .b = host(2, 1 + i), .qp_b = 0x22 + i};
    ends.vlans = {tag(3)};
    add_lossy(frames, ends, i * apart);
    ends.qp_a = 0x51;
    ends.qp_b = 0x62 + i;
    ends.vlans = {tag(of_others)};
    add_clean(frames, ends);
  }
  return analyzed(frames);
}

TEST(Grouping, ByQueueOfOnePriority) {
  const Report report = in_priorities(0);
  ASSERT_EQ(count_of(report, "loss.retransmission"), 1);
  const FindingRow& row = *find(report, "loss.retransmission");
  EXPECT_EQ(evidence(report, row.id, "grouped_by"), "queue");
  EXPECT_EQ(evidence(report, row.id, "vlan_priority"), "3");
  EXPECT_TRUE(row.scope.capture);
  EXPECT_THAT(row.text, HasSubstr("8 half-flows with VLAN priority 3, from 8 senders to 8 hosts"));
  EXPECT_THAT(row.text, HasSubstr("one queue of a switch would explain that"));
}

TEST(Grouping, PriorityOfAllIsNoQueue) {
  EXPECT_EQ(evidence(in_priorities(3), "loss.retransmission", "grouped_by"), "subnet_pair");
}

TEST(Grouping, OneAfterTheOtherIsNoQueue) {
  EXPECT_EQ(evidence(in_priorities(0, 10ms), "loss.retransmission", "grouped_by"), "subnet_pair");
}

// Eight pairs of hosts whose marks begin `apart` from each other, and eight without marks, or with
// some that begin and end meanwhile.
Report marked_from(std::chrono::nanoseconds apart, bool others_too = false) {
  Frames frames;
  for (u32 i = 0; i < 16; i++) {
    const Ends ends{.a = host(1, 1 + i), .b = host(2, 1 + i), .qp_b = 0x22 + i};
    for (u32 psn = 0; psn < 100; psn++) {
      const auto now = psn * 1ms + i * 1us;
      const bool marks = now >= 20ms + i % 8 * apart && (i < 8 || (others_too && psn < 25));
      frames.add(marks ? marked(ends.send(psn)) : ends.send(psn), now);
      frames.add(ends.ack(psn), now + 100us);
    }
  }
  return analyzed(frames);
}

TEST(Grouping, ByQueueWhoseMarksBeginTogether) {
  const Report report = marked_from(0us);
  EXPECT_EQ(evidence(report, "ecn.marked", "grouped_by"), "queue");
  EXPECT_THAT(text(report, "ecn.marked"),
              HasSubstr("8 half-flows with CE marks that began within"));
}

TEST(Grouping, MarksThatBeginAnyTimeAreNoQueue) {
  EXPECT_EQ(evidence(marked_from(5ms), "ecn.marked", "grouped_by"), "subnet_pair");
}

TEST(Grouping, MarksOnEveryFlowAreNoQueue) {
  EXPECT_EQ(evidence(marked_from(0us, true), "ecn.marked", "grouped_by"), "subnet_pair");
}

// The narrowest thing in common that explains them is told, and the odd one out on its own.
TEST(Grouping, LeavesTheOddOneAlone) {
  Frames frames;
  for (u32 i = 0; i < 6; i++)
    add_lossy(frames, {.a = host(i, 1), .b = host(9, 9), .qp_b = 0x22 + i}, i * 1us);
  add_lossy(frames, {.a = host(30, 1), .b = host(31, 1), .qp_b = 0x80}, 8us);
  const Report report = analyzed(frames);
  EXPECT_EQ(count_of(report, "loss.retransmission"), 2);
}

TEST(Ranking, WorstOfAKindComesFirst) {
  Frames frames;
  add_clean(frames, {.a = host(1, 1), .b = host(1, 2)});
  for (u32 k = 0; k < 2; k++)
    frames.add(Ends{.a = host(1, 1), .b = host(1, 2)}.send(19), 25ms + k * 1ms);
  add_lossy(frames, {.a = host(2, 1), .b = host(2, 2), .qp_b = 0x80}, 1us);
  const Report report = analyzed(frames);
  EXPECT_THAT(text(report, "loss.retransmission"), HasSubstr("10.0.2.1"));
}

TEST(Ranking, SeverityThenUrgency) {
  Frames frames;
  add_lossy(frames, {});
  const Ends dead{.a = host(3, 1), .b = host(3, 2), .qp_b = 0x80};
  frames.add(dead.send(0), 0ms).add(dead.ack(0), 1ms);
  for (u32 i = 0; i < 8; i++) frames.add(dead.send(1), 2ms + i * 10ms);
  add_clean(frames, {.a = host(4, 1), .b = host(4, 2), .qp_b = 0x90, .tos = 0});
  frames.add(Ends{.a = host(4, 1), .b = host(4, 2), .qp_b = 0x90}.send(20), 500ms);
  const Report report = analyzed(frames);
  const auto rank = [](const FindingRow& row) {
    return row.severity == "error" ? 2 : row.severity == "warning" ? 1 : 0;
  };
  EXPECT_TRUE(std::ranges::is_sorted(report.findings, std::ranges::greater{}, rank));
  EXPECT_EQ(report.findings.at(0).id, "retry.exhausted");
  EXPECT_EQ(report.findings.at(1).id, "path.responses_stopped");
}

// --- what the user sets

TEST(Settings, FileIsReadAndTheCommandLineWins) {
  Frames frames;
  add_lossy(frames, {});  // a third is sent again
  const CaptureFile config;
  std::ofstream(config.path()) << "# for the test network\n"
                                  "loss.retransmission.error = 90 %\n"
                                  "loss.retransmission.warning = 80 %\n";
  Options options;
  EXPECT_EQ(severity(analyzed(frames, options), "loss.retransmission"), "error");
  options.config = config.path();
  EXPECT_EQ(severity(analyzed(frames, options), "loss.retransmission"), "info");
  options.settings = {"loss.retransmission.warning=10%"};
  EXPECT_EQ(severity(analyzed(frames, options), "loss.retransmission"), "warning");
}

TEST(Settings, DecideWhetherThereIsAFinding) {
  Frames frames;
  for (u32 i = 0; i < 3; i++)
    add_clean(frames, {.qp_a = 0x11 + i, .qp_b = 0x22 + i, .port = 49152});
  EXPECT_FALSE(has(analyzed(frames), "entropy.constant"));
  Options options;
  options.settings = {"entropy.flows=3"};
  EXPECT_TRUE(has(analyzed(frames, options), "entropy.constant"));
}

// A sender that tries the first request `tries` times, while others are answered.
Report in_vain(u32 tries, const char* setting) {
  Frames frames;
  add_clean(frames, {.a = host(1, 1), .b = host(2, 1)});
  const Ends lost{.a = host(1, 1), .b = host(3, 1), .qp_b = 0x33};
  for (u32 i = 0; i < tries; i++) frames.add(lost.send(7), 1s + i * 67ms);
  frames.add(Ends{.a = host(1, 1), .b = host(2, 1)}.send(900), 3s);
  Options options;
  options.settings = {setting};
  return analyzed(frames, options);
}

TEST(Settings, SayAfterHowManyTriesAPathIsOneWay) {
  EXPECT_TRUE(has(in_vain(3, "path.tries=3"), "path.one_way"));
  EXPECT_FALSE(has(in_vain(2, "path.tries=3"), "path.one_way"));
  EXPECT_TRUE(has(in_vain(2, "path.tries=2"), "path.one_way"));
  EXPECT_FALSE(has(in_vain(3, "path.tries=4"), "path.one_way"));
}

// A CNP 30 us after a NAK, with no mark anywhere.
Report cnp_behind_nak(const char* setting) {
  Frames frames;
  const Ends ends;
  frames.add(ends.send(0), 0us).add(ends.ack(0), 10us).add(ends.send(2), 20us);
  frames.add(ends.nak(1), 30us).add(ends.cnp(), 60us);
  frames.add(ends.send(1), 70us).add(ends.send(2), 71us).add(ends.ack(2), 90us);
  Options options;
  options.settings = {setting};
  return analyzed(frames, options);
}

TEST(Settings, SayHowNearToANakACnpIsDueToIt) {
  const Report near = cnp_behind_nak("cnp.without_ce.on_nak=40us");
  EXPECT_EQ(evidence(near, "cnp.without_ce", "on_nak"), "1");
  EXPECT_THAT(text(near, "cnp.without_ce"), HasSubstr("1 within 40 us of a NAK"));
  EXPECT_EQ(evidence(cnp_behind_nak("cnp.without_ce.on_nak=10us"), "cnp.without_ce", "on_nak"),
            "0");
}

// Marks every millisecond for 50 ms, after CNPs that came every 2 ms for 20 ms.
Report cnps_that_end(const char* setting) {
  Frames frames;
  const Ends ends;
  for (u32 psn = 0; psn < 50; psn++) {
    frames.add(marked(ends.send(psn)), psn * 1ms).add(ends.ack(psn), psn * 1ms + 10us);
    if (psn < 20 && psn % 2 == 0) frames.add(ends.cnp(), psn * 1ms + 20us);
  }
  frames.add(Ends{.qp_a = 0x51, .qp_b = 0x52}.send(0), 300ms);
  Options options;
  options.settings = {setting};
  return analyzed(frames, options);
}

TEST(Settings, SayForHowManyIntervalsACnpIsAwaited) {
  EXPECT_TRUE(has(cnps_that_end("cnp.missing.intervals=10"), "cnp.missing"));
  EXPECT_FALSE(has(cnps_that_end("cnp.missing.intervals=20"), "cnp.missing"));
}

// --- what cannot be judged

std::string reason(const Report& report, std::string_view id) {
  const auto row = std::ranges::find(report.could_not_judge, id, &UnjudgedRow::id);
  return row != report.could_not_judge.end() ? row->text : "";
}

TEST(NotJudged, ChecksumsOfCutPackets) {
  Frames frames;
  for (u32 psn = 0; psn < 10; psn++) frames.add(Ends{.size = 500}.send(psn), psn * 1ms, 96);
  EXPECT_THAT(reason(analyzed(frames), "icrc.bad"), HasSubstr("captured to its end"));
}

TEST(NotJudged, CnpsThatWouldComeTheOtherWay) {
  Frames frames;
  for (u32 psn = 0; psn < 10; psn++) frames.add(marked(Ends{}.send(psn)), psn * 1ms);
  const Report report = analyzed(frames);
  EXPECT_FALSE(has(report, "cnp.missing"));
  EXPECT_THAT(reason(report, "cnp.missing"), HasSubstr("1 half-flow carried CE marks"));
}

TEST(NotJudged, AnswersWhenNothingComesBack) {
  Frames frames;
  for (u32 i = 0; i < 12; i++) frames.add(Ends{}.send(0), i * 67ms);
  const Report report = analyzed(frames);
  EXPECT_FALSE(has(report, "path.one_way"));
  EXPECT_THAT(reason(report, "path.one_way"), HasSubstr("1 half-flow got no answer"));
  EXPECT_THAT(reason(report, "nak.sequence"), HasSubstr("Only one direction"));
}

TEST(NotJudged, LossesInASample) {
  Frames frames;
  for (u32 qp = 0; qp < 3; qp++)
    for (u32 psn = 0; psn < 600; psn += 20 + psn % 7)
      frames.add(Ends{.qp_a = 0x11 + qp, .qp_b = 0x22 + qp}.send(psn), psn * 10us + qp * 1us);
  const Report report = analyzed(frames);
  EXPECT_TRUE(has(report, "capture.sampled"));
  EXPECT_THAT(reason(report, "loss.retransmission"), HasSubstr("a sample of the packets"));
}

TEST(NotJudged, GapsWithoutTheAnswers) {
  Frames frames;
  for (const u32 psn : {0u, 1u, 3u, 4u}) frames.add(Ends{}.send(psn), psn * 1ms);
  frames.add(Ends{}.send(5), 500ms);
  const Report report = analyzed(frames);
  EXPECT_FALSE(has(report, "loss.unrecovered"));
  EXPECT_THAT(reason(report, "loss.unrecovered"), HasSubstr("without the answers"));
}

// --- subnets

TEST(Subnets, SlowPairThatIsMarkedStandsFirst) {
  Frames frames;
  for (u32 i = 0; i < 3; i++) {
    add_clean(frames, {.a = host(1, 1 + i), .b = host(2, 1 + i), .qp_b = 0x22 + i});
    const Ends far{.a = host(1, 1 + i), .b = host(3, 1 + i), .qp_b = 0x42 + i};
    for (u32 psn = 0; psn < 20; psn++) {
      const Packet packet = far.send(psn);
      frames.add(psn % 2 == 0 ? marked(packet) : packet, psn * 1ms + 100us);
      frames.add(far.cnp(), psn * 1ms + 500us).add(far.ack(psn), psn * 1ms + 600us);
    }
  }
  const Report report = analyzed(frames);
  ASSERT_GE(report.subnet_pairs.size(), 2u);
  const SubnetPairRow& slow = report.subnet_pairs.at(0);
  EXPECT_EQ(slow.source, "10.0.1.0/24");
  EXPECT_EQ(slow.destination, "10.0.3.0/24");
  EXPECT_EQ(slow.half_flows, 3u);
  EXPECT_EQ(slow.ce_marked, 30u);
  ASSERT_TRUE(slow.ack_latency);
  EXPECT_NEAR(static_cast<double>(slow.ack_latency->p50), 500e3, 10e3);
}

}  // namespace
}  // namespace rocetrace::test
