// SPDX-License-Identifier: BSD-3-Clause
// Which two half-flows are one connection, found from the PSNs of requests and responses alone.

#include <gtest/gtest.h>

#include <random>

#include "support/flow_script.hpp"

namespace roce::test {
namespace {

/// QP numbers on hosts a and b of every standing connection above `confidence`.
std::vector<std::pair<u32, u32>> pairs(const Followed& seen, double confidence = 0) {
  std::vector<std::pair<u32, u32>> out;
  for (const flow::Connection& connection : seen.tracker->connections()) {
    if (connection.broken || connection.confidence() <= confidence) continue;
    const flow::HalfFlow& one = seen.flow(connection.flows[0]);
    const flow::HalfFlow& other = seen.flow(connection.flows[1]);
    const bool one_from_a = one.key.source < one.key.destination;
    const flow::HalfFlow& to_b = one_from_a ? one : other;
    const flow::HalfFlow& to_a = one_from_a ? other : one;
    out.emplace_back(to_a.key.dest_qp(), to_b.key.dest_qp());
  }
  std::ranges::sort(out);
  return out;
}
using Pairs = std::vector<std::pair<u32, u32>>;

TEST(FlowPairing, OneConnection) {
  const Followed seen = Script().between(0x11, 0x22).send(5, 9).ack(9).send(10).ack(10).follow();
  EXPECT_EQ(pairs(seen), (Pairs{{0x11, 0x22}}));
  EXPECT_EQ(seen.connection().evidence, flow::Evidence::psn);
  EXPECT_EQ(seen.flow(1).partner, 2u);
  EXPECT_EQ(seen.flow(2).partner, 1u);
}

TEST(FlowPairing, ConfidenceGrowsWithTheAnswers) {
  Script script;
  script.send(1).ack(1);
  const double first = script.follow().connection().confidence();
  for (u32 psn = 2; psn < 40; psn++) script.send(psn).ack(psn);
  const double later = script.follow().connection().confidence();
  EXPECT_LE(first, 0.5);
  EXPECT_GT(later, 0.95);
}

TEST(FlowPairing, ManyQpsEachWithPsnsOfItsOwn) {
  Script script;
  std::mt19937 random(1);
  Pairs expected;
  std::vector<u32> next(64);
  for (u32 qp = 0; qp < 64; qp++) {
    next[qp] = static_cast<u32>(random() & 0xff'ffff);
    expected.emplace_back(100 + qp, 900 - qp);
  }
  for (u32 round = 0; round < 2000; round++) {
    const u32 qp = static_cast<u32>(random() % 64), more = static_cast<u32>(random() % 4);
    script.between(100 + qp, 900 - qp).send(next[qp], next[qp] + more).ack(next[qp] + more);
    next[qp] += more + 1;
  }
  std::ranges::sort(expected);
  EXPECT_EQ(pairs(script.follow()), expected);
}

TEST(FlowPairing, TheSameNumbersOnBothHosts) {
  Script script;
  for (u32 qp = 20; qp < 30; qp++) script.between(qp, qp).send(qp * 1000).ack(qp * 1000);
  const Followed seen = script.follow();
  ASSERT_EQ(pairs(seen).size(), 10u);
  for (const auto& [a, b] : pairs(seen)) EXPECT_EQ(a, b);
}

TEST(FlowPairing, CrossedNumbers) {
  // 20 on a talks to 21 on b, and 21 on a to 20 on b.
  Script script;
  for (u32 i = 0; i < 20; i++) {
    script.between(20, 21).send(1000 + i).ack(1000 + i);
    script.between(21, 20).send(900'000 + i).ack(900'000 + i);
  }
  EXPECT_EQ(pairs(script.follow()), (Pairs{{20, 21}, {21, 20}}));
}

TEST(FlowPairing, BothSidesAsk) {
  Script script;
  for (u32 i = 0; i < 20; i++) {
    script.between(20, 21).a_asks().send(1000 + i).ack(1000 + i);
    script.between(30, 31).b_asks().send(500'000 + i).ack(500'000 + i);
    script.between(20, 21).b_asks().send(7'000 + i).ack(7'000 + i);
  }
  EXPECT_EQ(pairs(script.follow()), (Pairs{{20, 21}, {30, 31}}));
}

TEST(FlowPairing, CoalescedAcknowledgements) {
  Script script;
  for (u32 i = 0; i < 20; i++) {
    script.between(20, 21).send(i * 100, i * 100 + 63);
    script.between(30, 31).send(5'000'000 + i * 100, 5'000'000 + i * 100 + 63);
    script.between(20, 21).ack(i * 100 + 63);
    script.between(30, 31).ack(5'000'000 + i * 100 + 63);
  }
  EXPECT_EQ(pairs(script.follow()), (Pairs{{20, 21}, {30, 31}}));
}

TEST(FlowPairing, ReadsAloneAreEnough) {
  Script script;
  for (u32 i = 0; i < 10; i++)
    script.between(20, 21).read(i * 5, 5000).read_response(i * 5, i * 5 + 4);
  EXPECT_EQ(pairs(script.follow()), (Pairs{{20, 21}}));
}

TEST(FlowPairing, ANakAloneIsEnough) {
  const Followed seen =
      Script().between(20, 21).send(5).lose_before_tap(6).send(7).nak(6).resend(6, 7).follow();
  EXPECT_EQ(pairs(seen), (Pairs{{20, 21}}));
  EXPECT_EQ(seen.episodes.at(0).cause, flow::Cause::nak_sequence) << "known when it is needed";
}

TEST(FlowPairing, FromTheMiddleOfTheirTraffic) {
  // The first answer is to a request from before the trace.
  Script script;
  script.between(20, 21).lose_before_tap(5).ack(5);
  for (u32 i = 6; i < 30; i++) script.send(i).ack(i);
  EXPECT_EQ(pairs(script.follow()), (Pairs{{20, 21}}));
}

TEST(FlowPairing, AResponseAloneHasNoPartner) {
  const Followed seen = Script().between(20, 21).lose_before_tap(5).ack(5).ack(6).follow();
  EXPECT_EQ(seen.tracker->flows().size(), 1u);
  EXPECT_TRUE(seen.tracker->connections().empty());
  EXPECT_EQ(seen.flow().partner, 0u);
}

TEST(FlowPairing, OneDirectionAloneHasNoPartner) {
  const Followed seen = Script().between(20, 21).send(5, 2000).follow();
  EXPECT_TRUE(seen.tracker->connections().empty());
}

TEST(FlowPairing, EqualPsnsInLockstepAreNeverPairedWronglyWithCertainty) {
  // Eight QPs begin at the same PSN and go in step: an answer could be anyone's.
  Script script;
  for (u32 i = 0; i < 200; i++) {
    for (u32 qp = 0; qp < 8; qp++) script.between(20 + qp, 40 + qp).send(i);
    for (u32 qp = 0; qp < 8; qp++) script.between(20 + qp, 40 + qp).ack(i);
  }
  for (const auto& [a, b] : pairs(script.follow(), 0.9)) EXPECT_EQ(a + 20, b);
}

TEST(FlowPairing, EqualPsnsThatPartLaterArePairedThen) {
  Script script;
  for (u32 i = 0; i < 400; i++) {
    for (u32 qp = 0; qp < 4; qp++) {
      const u32 psn = i < 20 ? i : i + (qp << 12);
      script.between(20 + qp, 40 + qp).send(psn);
    }
    for (u32 qp = 0; qp < 4; qp++) {
      const u32 psn = i < 20 ? i : i + (qp << 12);
      script.between(20 + qp, 40 + qp).ack(psn);
    }
  }
  EXPECT_EQ(pairs(script.follow()), (Pairs{{20, 40}, {21, 41}, {22, 42}, {23, 43}}));
}

TEST(FlowPairing, AContradictionTakesAPairApart) {
  // 20 <-> 21 look paired by one chance answer; then each answers someone else.
  Script script;
  script.between(20, 31).send(5);
  script.between(30, 31).ack(5);  // 31 seems to answer to 30
  for (u32 i = 0; i < 100; i++) {
    script.between(20, 31).send(6 + i).ack(6 + i);
    script.between(30, 41).send(3'000'000 + i).ack(3'000'000 + i);
  }
  const Followed seen = script.follow();
  EXPECT_EQ(pairs(seen, 0.9), (Pairs{{20, 31}, {30, 41}}));
}

TEST(FlowPairing, OtherHostsWithTheSameNumbersAreOthers) {
  // The script knows two hosts; a third comes in by hand.
  Script one, other;
  one.between(20, 21);
  other.between(20, 21);
  for (u32 i = 0; i < 30; i++) {
    one.send(i).ack(i);
    other.send(i).ack(i);
  }
  std::vector<flow::Observation> first = one.observations(), second = other.observations(), both;
  for (flow::Observation& packet : second) {
    const u32 third = 0x0a000003;
    if (packet.source == 0x0a000002) packet.source = third;
    if (packet.destination == 0x0a000002) packet.destination = third;
  }
  for (std::size_t i = 0; i < first.size(); i++) {
    both.push_back(first[i]);
    both.push_back(second[i]);
  }
  for (std::size_t i = 0; i < both.size(); i++) both[i].frame = i + 1;
  const Followed seen = follow(both);
  ASSERT_EQ(seen.tracker->connections().size(), 2u);
  for (const flow::Connection& connection : seen.tracker->connections())
    EXPECT_EQ(seen.flow(connection.flows[0]).key.source,
              seen.flow(connection.flows[1]).key.destination);
}

TEST(FlowPairing, ServicesAreNotMixed) {
  Script script(Ids::counted, Service::uc);
  script.between(20, 21).send(5, 9);
  std::vector<flow::Observation> packets = script.observations();
  for (const flow::Observation& packet : Script().between(30, 21).send(7).ack(7).observations())
    packets.push_back(packet);
  for (std::size_t i = 0; i < packets.size(); i++) packets[i].frame = i + 1;
  const Followed seen = follow(packets);
  for (const flow::Connection& connection : seen.tracker->connections())
    EXPECT_NE(connection.evidence, flow::Evidence::psn);
}

}  // namespace
}  // namespace roce::test
