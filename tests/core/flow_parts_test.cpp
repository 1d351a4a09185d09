// SPDX-License-Identifier: BSD-3-Clause
// The small parts that the flow layer is built of.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "roce/flow/cnp_scopes.hpp"
#include "roce/flow/histogram.hpp"
#include "roce/flow/history.hpp"
#include "roce/flow/messages.hpp"
#include "roce/flow/recovery.hpp"

namespace roce::flow {
namespace {

u64 exact_quantile(std::vector<u64> values, double share) {
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

void expect_close(u64 got, u64 exact) {
  const double error = std::abs(static_cast<double>(got) - static_cast<double>(exact));
  EXPECT_LE(error, 0.02 * static_cast<double>(exact)) << got << " for " << exact;
}

TEST(Histogram, IsEmptyAtFirst) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  EXPECT_EQ(histogram.quantiles().max, 0u);
}

TEST(Histogram, HoldsOneValueExactly) {
  for (const u64 value : {u64{0}, u64{1}, u64{31}, u64{32}, u64{1000}, u64{123'456'789}, ~u64{0}}) {
    Histogram histogram;
    histogram.add(value);
    const Quantiles q = histogram.quantiles();
    EXPECT_EQ(q.min, value);
    EXPECT_EQ(q.p50, value);
    EXPECT_EQ(q.p99, value);
    EXPECT_EQ(q.max, value);
  }
}

TEST(Histogram, IsWithinTwoPercent) {
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> spread(10, 2);
  std::vector<u64> values;
  Histogram histogram;
  u64 sum = 0;
  for (int i = 0; i < 50'000; i++) {
    values.push_back(static_cast<u64>(spread(random)));
    histogram.add(values.back());
    sum += values.back();
  }
  const Quantiles q = histogram.quantiles();
  EXPECT_EQ(q.count, values.size());
  EXPECT_EQ(q.min, exact_quantile(values, 0));
  EXPECT_EQ(q.max, exact_quantile(values, 1));
  EXPECT_EQ(q.mean, sum / values.size());
  expect_close(q.p50, exact_quantile(values, 0.5));
  expect_close(q.p90, exact_quantile(values, 0.9));
  expect_close(q.p99, exact_quantile(values, 0.99));
  for (int i = 1; i < 100; i++)
    expect_close(histogram.quantile(i * 0.01), exact_quantile(values, i * 0.01));
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (u64 value = 0; value < 32; value++) histogram.add(value);
  EXPECT_EQ(histogram.quantile(0.5), 15u);
  EXPECT_EQ(histogram.quantile(0.25), 7u);
}

TEST(Histogram, MergedIsTheSameAsTogether) {
  std::mt19937_64 random(4);
  Histogram one, other, both;
  for (int i = 0; i < 10'000; i++) {
    const u64 value = random() >> (random() % 60);
    (i % 3 ? one : other).add(value);
    both.add(value);
  }
  one.merge(other);
  one.merge(Histogram{});
  Histogram empty;
  empty.merge(one);
  for (const Histogram* merged : {&one, &empty}) {
    EXPECT_EQ(merged->quantiles().count, both.quantiles().count);
    EXPECT_EQ(merged->quantiles().min, both.quantiles().min);
    EXPECT_EQ(merged->quantiles().p50, both.quantiles().p50);
    EXPECT_EQ(merged->quantiles().p99, both.quantiles().p99);
    EXPECT_EQ(merged->quantiles().max, both.quantiles().max);
  }
}

// --- RangeList

/// A random number below `end`.
u32 below(std::mt19937& random, u32 end) {
  return static_cast<u32>(random() % end);
}

using Ranges = RangeList<PsnRange, 4>;

std::vector<std::pair<u32, u32>> content(const Ranges& ranges) {
  std::vector<std::pair<u32, u32>> out;
  for (const PsnRange& range : ranges) out.emplace_back(range.first.value(), range.count);
  std::ranges::sort(out);
  return out;
}
using Content = std::vector<std::pair<u32, u32>>;

TEST(RangeList, FindsWhatItHolds) {
  Ranges ranges;
  ranges.add({Psn(0xffffff), 3});
  EXPECT_FALSE(ranges.find(Psn(0xfffffe)));
  EXPECT_TRUE(ranges.find(Psn(0xffffff)));
  EXPECT_TRUE(ranges.find(Psn(1)));
  EXPECT_FALSE(ranges.find(Psn(2)));
}

TEST(RangeList, RemovesFromEitherEndAndTheMiddle) {
  Ranges ranges;
  ranges.add({Psn(10), 10});
  ranges.remove(Psn(8), 4);
  EXPECT_EQ(content(ranges), (Content{{12, 8}}));
  ranges.remove(Psn(18), 9);
  EXPECT_EQ(content(ranges), (Content{{12, 6}}));
  ranges.remove(Psn(14), 1);
  EXPECT_EQ(content(ranges), (Content{{12, 2}, {15, 3}}));
  ranges.remove(Psn(0), 100);
  EXPECT_TRUE(ranges.empty());
}

TEST(RangeList, RemovesOverSeveralRanges) {
  Ranges ranges;
  ranges.add({Psn(10), 2});
  ranges.add({Psn(20), 2});
  ranges.add({Psn(30), 2});
  ranges.remove(Psn(11), 20);
  EXPECT_EQ(content(ranges), (Content{{10, 1}, {31, 1}}));
}

TEST(RangeList, RemovesNothingThatItDoesNotHold) {
  Ranges ranges;
  ranges.add({Psn(10), 2});
  ranges.remove(Psn(12), 5);
  ranges.remove(Psn(5), 5);
  ranges.remove(Psn(10), 0);
  EXPECT_EQ(content(ranges), (Content{{10, 2}}));
}

TEST(RangeList, GivesUpTheOldestWhenItIsFull) {
  Ranges ranges;
  for (u32 i = 0; i < 5; i++) ranges.add({Psn(10 * i), 1});
  EXPECT_TRUE(ranges.overflowed());
  EXPECT_EQ(content(ranges), (Content{{10, 1}, {20, 1}, {30, 1}, {40, 1}}));
}

TEST(RangeList, SplitsWhenItIsFull) {
  Ranges ranges;
  for (u32 i = 0; i < 4; i++) ranges.add({Psn(10 * i), 5});
  for (u32 i = 0; i < 4; i++) ranges.remove(Psn(10 * i + 2), 1);
  EXPECT_LE(ranges.size(), 4u);
  for (const PsnRange& range : ranges) EXPECT_EQ(range.count, 2u);
}

TEST(RangeList, AgreesWithASetOfPsns) {
  std::mt19937 random(9);
  for (int round = 0; round < 200; round++) {
    RangeList<PsnRange, 64> ranges;
    std::array<bool, 256> held{};
    for (u32 at = 4; at < 240; at += 16) {
      const u32 count = 1 + below(random, 10);
      ranges.add({Psn(0xffff80 + at), count});
      for (u32 i = 0; i < count; i++) held[at + i] = true;
    }
    for (int removals = 0; removals < 20; removals++) {
      const u32 at = below(random, 240), count = below(random, 16);
      ranges.remove(Psn(0xffff80 + at), count);
      for (u32 i = at; i < at + count; i++) held[i] = false;
    }
    for (u32 at = 0; at < 256; at++)
      ASSERT_EQ(ranges.find(Psn(0xffff80 + at)) != nullptr, held[at]) << at;
  }
}

// --- Messages

Message message(u32 first, u32 count) {
  return {.first = Psn(first), .end = Psn(first + count)};
}

TEST(Messages, FindsTheOneThatHoldsAPsn) {
  Messages messages;
  EXPECT_EQ(messages.find(Psn(5)), nullptr);
  messages.push(message(0xfffffe, 4));
  messages.push(message(2, 1));
  messages.push(message(5, 10));
  EXPECT_EQ(messages.find(Psn(0xfffffd)), nullptr);
  EXPECT_EQ(messages.find(Psn(1))->first, Psn(0xfffffe));
  EXPECT_EQ(messages.find(Psn(2))->first, Psn(2));
  EXPECT_EQ(messages.find(Psn(3)), nullptr);
  EXPECT_EQ(messages.find(Psn(14))->first, Psn(5));
  EXPECT_EQ(messages.find(Psn(15)), nullptr);
}

TEST(Messages, GivesUpTheOldestWhenItIsFull) {
  Messages messages;
  for (u32 i = 0; i < Messages::kMost + 100; i++) messages.push(message(i, 1));
  EXPECT_EQ(messages.size(), Messages::kMost);
  EXPECT_EQ(messages.front().first, Psn(100));
  EXPECT_EQ(messages.back().first, Psn(Messages::kMost + 99));
}

TEST(Messages, KeepsItsOrderWhileItGrowsAndShrinks) {
  Messages messages;
  u32 in = 0, out = 0;
  std::mt19937 random(2);
  for (int i = 0; i < 5000; i++) {
    if (random() % 5 < 3 && in - out < 1000) {
      messages.push(message(in++, 1));
    } else if (!messages.empty()) {
      ASSERT_EQ(messages.front().first, Psn(out++));
      messages.pop();
    }
    ASSERT_EQ(messages.size(), in - out);
  }
}

// --- History

Observation packet(u32 psn, u64 time) {
  Observation out;
  out.psn = psn;
  out.time = time;
  out.opcode = 0x04;
  out.ip_id = static_cast<u16>(psn);
  out.ttl = 64;
  out.icrc = psn * 7;
  out.flags = kHasIpId | kHasIcrc;
  return out;
}
auto with(u32 psn) {
  return [psn](const PastPacket& past) { return past.psn() == psn; };
}

TEST(History, FindsTheLatestOfItsHalfFlow) {
  History history;
  u32 one = 0, other = 0;
  history.remember(packet(5, 100), one);
  history.remember(packet(5, 200), other);
  history.remember(packet(6, 300), one);
  history.remember(packet(5, 400), one);
  history.remember(packet(5, 500), other);
  EXPECT_EQ(history.find(one, with(5))->time, 400u);
  EXPECT_EQ(history.find(one, with(6))->time, 300u);
  EXPECT_EQ(history.find(other, with(5))->time, 500u);
  EXPECT_EQ(history.find(other, with(6)), nullptr);
  EXPECT_EQ(history.find(0, with(5)), nullptr);
}

TEST(History, NeverGivesAPacketOfAnotherHalfFlow) {
  History history;
  std::vector<u32> last(50);
  std::mt19937 random(6);
  for (u32 i = 0; i < 4 * History::kSize; i++) {
    const u32 flow = below(random, i % 97 == 0 ? 50 : 3);
    history.remember(packet(flow, i), last[flow]);
    if (i % 31 != 0) continue;
    const u32 asked = below(random, 50);
    EXPECT_EQ(
        history.find(last[asked], [&](const PastPacket& past) { return past.psn() != asked; }),
        nullptr);
  }
}

TEST(History, ForgetsTheOld) {
  History history;
  u32 one = 0, other = 0;
  history.remember(packet(5, 100), one);
  for (u32 i = 0; i < History::kSize; i++) history.remember(packet(i, 200), other);
  EXPECT_EQ(history.find(one, with(5)), nullptr);
}

// --- is_capture_of

PastPacket past_of(const Observation& seen) {
  History history;
  u32 last = 0;
  history.remember(seen, last);
  return *history.find(last, [](const PastPacket&) { return true; });
}

TEST(SecondCapture, IsTheSamePacketAMomentLater) {
  const PastPacket before = past_of(packet(5, 1'000));
  Observation again = packet(5, 2'000);
  EXPECT_TRUE(is_capture_of(before, again, true, 0));
  again.ttl = 63;
  EXPECT_TRUE(is_capture_of(before, again, true, 0));
}

TEST(SecondCapture, IsNotWhatDiffers) {
  const PastPacket before = past_of(packet(5, 1'000));
  const Observation again = packet(5, 2'000);
  Observation other = again;
  other.ttl = 65;
  EXPECT_FALSE(is_capture_of(before, other, true, 0)) << "it cannot have more hops to live";
  other = again;
  other.ip_id++;
  EXPECT_FALSE(is_capture_of(before, other, true, 0));
  other = again;
  other.icrc++;
  EXPECT_FALSE(is_capture_of(before, other, true, 0));
  other = again;
  other.opcode = 0x0a;
  EXPECT_FALSE(is_capture_of(before, other, true, 0));
  other = again;
  other.time = before.time + 1'000'001;
  EXPECT_FALSE(is_capture_of(before, other, true, 0)) << "after a millisecond";
}

TEST(SecondCapture, WithoutIdsMustBeTooSoonForTheSender) {
  const PastPacket before = past_of(packet(5, 1'000));
  EXPECT_TRUE(is_capture_of(before, packet(5, 2'000), false, 5'000));
  EXPECT_FALSE(is_capture_of(before, packet(5, 7'000), false, 5'000));
  EXPECT_FALSE(is_capture_of(before, packet(5, 2'000), false, 0));
}

TEST(SecondCapture, OfACutPacketHasNoIcrcToCompare) {
  const PastPacket before = past_of(packet(5, 1'000));
  Observation cut = packet(5, 2'000);
  cut.flags = kHasIpId;
  cut.icrc = 0;
  EXPECT_TRUE(is_capture_of(before, cut, true, 0));
}

constexpr CnpScope scope_of(u64 of_queue_pair, u64 of_destination, u64 of_port, u64 queue_pairs,
                            u64 destinations) {
  return CnpIntervals{of_queue_pair, of_destination, of_port, queue_pairs, destinations}.fitting();
}

TEST(CnpScope, IsTheWidestThatKeepsTheInterval) {
  EXPECT_EQ(scope_of(1000, 1000, 1000, 4, 2), CnpScope::port);
  EXPECT_EQ(scope_of(1000, 1000, 10, 4, 2), CnpScope::destination);
  EXPECT_EQ(scope_of(1000, 10, 10, 4, 2), CnpScope::queue_pair);
  EXPECT_EQ(scope_of(1000, 850, 850, 4, 2), CnpScope::port) << "as exact as clocks are";
}

TEST(CnpScope, SaysNothingOfAScopeThatHoldsOneOnly) {
  EXPECT_EQ(scope_of(1000, 1000, 1000, 1, 1), CnpScope::queue_pair);
  EXPECT_EQ(scope_of(1000, 1000, 1000, 4, 1), CnpScope::destination);
  EXPECT_EQ(scope_of(1000, 1000, 10, 2, 2), CnpScope::queue_pair);
}

TEST(CnpScope, IsNotKnownOfIntervalsThatAreNot) {
  EXPECT_EQ(scope_of(1000, 0, 0, 4, 2), CnpScope::queue_pair);
}

}  // namespace
}  // namespace roce::flow
