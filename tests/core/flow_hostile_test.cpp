// SPDX-License-Identifier: BSD-3-Clause
// The tracker under packets that no NIC would send: it must not fail, grow, slow down or lose
// count; and it must not matter how packets are cut into batches.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/flow_script.hpp"

namespace roce::test {
namespace {

using flow::Observation;

// Random packets of `flows` half-flows in `hosts` hosts. `spread`: how far PSNs jump about.
std::vector<Observation> random_packets(std::size_t count, u32 seed, u32 hosts, u32 qps,
                                        u32 spread) {
  std::mt19937 random(seed);
  const auto below = [&](u32 end) { return static_cast<u32>(random() % end); };
  static constexpr u8 kOpcodes[] = {0x04, 0x04, 0x04, 0x00, 0x01, 0x02, 0x0a, 0x0c, 0x0d,
                                    0x0e, 0x0f, 0x10, 0x11, 0x11, 0x11, 0x12, 0x13, 0x24,
                                    0x64, 0x81, 0xa4, 0xb1, 0x44, 0xff, 0x1c, 0x1d};
  static constexpr u8 kSyndromes[] = {0x1f, 0x1f, 0x00, 0x60, 0x60, 0x61, 0x62, 0x2c, 0x40, 0xff};
  std::vector<Observation> out(count);
  u64 time = 1'000'000'000;
  u32 psn = 0xfffff0;
  for (std::size_t i = 0; i < count; i++) {
    Observation& packet = out[i];
    switch (below(64)) {
      case 0: time += 20'000'000'000; break;
      case 1: time -= below(50'000'000); break;
      case 2: time += below(80'000'000); break;
      default: time += below(20'000);
    }
    packet.time = time;
    packet.frame = i + 1;
    packet.source = 1 + below(hosts);
    packet.destination = 1 + below(hosts);
    packet.dest_qp = 1 + below(qps);
    psn = below(32) == 0 ? below(1 << 24) : psn + below(spread) - spread / 2;
    packet.psn = psn & 0xff'ffff;
    packet.opcode = kOpcodes[below(sizeof(kOpcodes))];
    packet.payload_size = below(4) == 0 ? 1024 : below(5000);
    packet.wire_size = packet.payload_size + 66;
    packet.dma_length = below(8) == 0 ? 0xffff'ffff : below(20'000);
    packet.aeth = u32{kSyndromes[below(sizeof(kSyndromes))]} << 24;
    packet.icrc = below(4);
    packet.ip_id = static_cast<u16>(below(8) == 0 ? below(65536) : i);
    packet.ttl = static_cast<u8>(62 + below(3));
    packet.tos = static_cast<u8>(below(256));
    packet.version = below(16) == 0 ? u8{1} : u8{2};
    packet.vlan = static_cast<u16>(below(65536));
    packet.source_port = static_cast<u16>(below(65536));
    packet.flags = static_cast<u16>(random());
    if (below(8) != 0) packet.flags &= static_cast<u16>(~flow::kUndecoded);
  }
  return out;
}

TEST(FlowHostile, RandomPsnsOfOneHalfFlow) {
  for (u32 spread : {2u, 4u, 64u, 5000u}) {
    const Followed seen = follow(random_packets(20'000, spread, 1, 2, spread));
    EXPECT_LE(seen.tracker->flows().size(), 8u);
  }
}

TEST(FlowHostile, RandomPacketsOfManyHalfFlows) {
  follow(random_packets(100'000, 7, 4, 500, 8));
  follow(random_packets(100'000, 8, 20, 0xffffff, 1 << 23));
}

TEST(FlowHostile, AMillionPacketsInBoundedTime) {
  // Consistency is checked above; here only that it ends, in little memory, under a sanitizer too.
  std::vector<flow::Arrival> arrivals(1000);
  flow::Tracker tracker;
  for (u32 round = 0; round < 20; round++) {
    const std::vector<Observation> packets = random_packets(50'000, round, 3, 40, 6);
    for (std::size_t at = 0; at < packets.size(); at += 1000)
      tracker.observe(std::span(packets).subspan(at, 1000), arrivals);
  }
  tracker.finish();
  EXPECT_LE(tracker.flows().size(), 3u * 3 * 40 * 2);
  EXPECT_TRUE(tracker.settlements().classes.empty()) << "nobody wanted them";
  EXPECT_TRUE(tracker.settlements().episodes.empty());
}

TEST(FlowHostile, MoreHalfFlowsThanAllowedAreCountedOnly) {
  flow::Tracker tracker(false, 10);
  std::vector<Observation> packets = random_packets(5'000, 3, 10, 100, 4);
  std::vector<flow::Arrival> arrivals(packets.size());
  tracker.observe(packets, arrivals);
  tracker.finish();
  EXPECT_EQ(tracker.flows().size(), 10u);
  u64 followed = 0;
  for (u32 id = 1; id <= 10; id++) followed += tracker.flows().at(id).packets();
  const auto copies = std::ranges::count_if(
      packets, [](const Observation& packet) { return packet.has(flow::kCopy); });
  EXPECT_GT(copies, 1000);
  EXPECT_EQ(followed + tracker.untracked_packets() + static_cast<u64>(copies), packets.size());
}

TEST(FlowHostile, ARestartAtEveryPacket) {
  Script script;
  script.send(1, 200);
  for (u32 psn = 199; psn > 1; psn--) script.resend(psn);
  const Followed seen = script.nak(50).ack(200).follow();
  EXPECT_EQ(seen.counts().retransmissions, 198u);
}

TEST(FlowHostile, NaksForWhateverPsn) {
  Script script;
  script.send(1, 50);
  std::mt19937 random(5);
  for (int i = 0; i < 2000; i++) {
    const auto psn = static_cast<u32>(random() & 0xff'ffff);
    script.nak(i % 3 ? psn : psn % 60).rnr(psn % 50).resend(1 + psn % 50).ack(psn);
  }
  script.follow();  // consistency is checked there
}

bool same(const flow::Arrival& a, const flow::Arrival& b) {
  return a.flow == b.flow && a.episode == b.episode && a.missing == b.missing &&
         a.packet_class == b.packet_class && a.stream == b.stream &&
         a.provisional == b.provisional && a.repeated_response == b.repeated_response &&
         a.answers_frame == b.answers_frame && a.answers_time == b.answers_time;
}

void expect_same_for_every_batch(const std::vector<Observation>& packets) {
  const Followed whole = follow(packets, packets.size());
  for (const std::size_t batch : {1u, 7u, 32u, 256u}) {
    SCOPED_TRACE(batch);
    const Followed cut = follow(packets, batch);
    EXPECT_TRUE(std::ranges::equal(whole.arrivals, cut.arrivals, same));
    EXPECT_TRUE(std::ranges::equal(whole.settled, cut.settled, [](const auto& a, const auto& b) {
      return a.frame == b.frame && a.packet_class == b.packet_class && a.episode == b.episode;
    }));
    EXPECT_TRUE(std::ranges::equal(whole.episodes, cut.episodes, [](const auto& a, const auto& b) {
      return a.number == b.number && a.flow == b.flow && a.restart_psn == b.restart_psn &&
             a.cause == b.cause && a.place == b.place && a.packets == b.packets &&
             a.start_frame == b.start_frame && a.silence == b.silence;
    }));
    ASSERT_EQ(whole.tracker->connections().size(), cut.tracker->connections().size());
    for (std::size_t i = 0; i < whole.tracker->connections().size(); i++) {
      const flow::Connection& one = whole.tracker->connections()[i];
      const flow::Connection& other = cut.tracker->connections()[i];
      EXPECT_EQ(one.flows, other.flows);
      EXPECT_EQ(one.support, other.support);
      EXPECT_EQ(one.broken, other.broken);
      for (std::size_t which = 0; which < flow::kTimesCount; which++) {
        ASSERT_EQ(one.times[which] == nullptr, other.times[which] == nullptr);
        if (!one.times[which]) continue;
        EXPECT_EQ(one.times[which]->count(), other.times[which]->count());
        EXPECT_EQ(one.times[which]->quantile(0.5), other.times[which]->quantile(0.5));
      }
    }
  }
}

TEST(FlowBatches, DoNotMatterForAStory) {
  Script script;
  for (u32 round = 0; round < 20; round++) {
    const u32 at = round * 20;
    script.between(0x11 + round % 3, 0x22 + round % 3).send(at, at + 5).overtaken(at + 6);
    script.send(at + 7).late(at + 6).lose_before_tap(at + 8).send(at + 9, at + 12);
    script.nak(at + 8).resend(at + 8, at + 12).duplicate().ack(at + 12);
    script.b_asks().send(at + 700, at + 702).ack(at + 702).a_asks();
    script.read(at + 13, 5000).read_response(at + 13, at + 17).wait(1ms);
  }
  expect_same_for_every_batch(script.observations());
}

TEST(FlowBatches, DoNotMatterForRandomPackets) {
  expect_same_for_every_batch(random_packets(20'000, 11, 3, 20, 6));
  expect_same_for_every_batch(random_packets(20'000, 12, 6, 2000, 4));
}

// Keys that a capture was made of to meet in one place are spread by any seed that it did not know.
TEST(FlowHostile, KeysThatCollideUnderOneSeedDoNotUnderAnother) {
  using flow::HalfFlowKey;
  constexpr u64 kMask = 0x3ff, kKnown = 0;
  std::vector<HalfFlowKey> keys;
  for (u32 qp = 2; keys.size() < 1000; qp++) {
    const HalfFlowKey key{0x0a00'0001, 0x0a00'0002, qp | 2u << 24};
    if ((hash(key, kKnown) & kMask) == 0) keys.push_back(key);
  }
  std::mt19937_64 seeds(1);
  for (int round = 0; round < 50; round++) {
    const u64 seed = seeds();
    std::vector<u32> places(kMask + 1);
    for (const HalfFlowKey& key : keys) places[hash(key, seed) & kMask]++;
    EXPECT_LT(*std::ranges::max_element(places), 20u) << seed;
  }
  EXPECT_EQ(hash(keys[0]), hash(keys[0], kHashSeed));
}

}  // namespace
}  // namespace roce::test
