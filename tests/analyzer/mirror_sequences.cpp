// SPDX-License-Identifier: BSD-3-Clause
// Losses between a mirror and the capture, by the numbers in ERSPAN's GRE headers.

#include <gtest/gtest.h>

#include "mirror_sequences.hpp"
#include "support/encapsulations.hpp"

namespace rocetrace::test {
namespace {

using roce::u32;
using roce::u64;
using roce::u8;
using roce::test::Buffer;

std::optional<u64> missing_of(const std::vector<u32>& numbers) {
  SequenceGaps gaps;
  for (const u32 number : numbers) gaps.note(number);
  return gaps.missing();
}

std::vector<u32> row(u32 from, u32 count) {
  std::vector<u32> numbers;
  for (u32 i = 0; i < count; i++) numbers.push_back(from + i);
  return numbers;
}

TEST(SequenceGaps, NothingIsMissingOfARow) {
  EXPECT_EQ(missing_of(row(7, 100)), 0u);
}

TEST(SequenceGaps, WhatIsLeftOutIsMissing) {
  auto numbers = row(0, 100);
  numbers.erase(numbers.begin() + 40, numbers.begin() + 45);
  numbers.erase(numbers.begin() + 70);
  EXPECT_EQ(missing_of(numbers), 6u);
}

TEST(SequenceGaps, WhatComesLateIsNotMissing) {
  auto numbers = row(0, 100);
  std::swap(numbers[10], numbers[11]);
  std::rotate(numbers.begin() + 50, numbers.begin() + 51, numbers.begin() + 60);
  EXPECT_EQ(missing_of(numbers), 0u);
  numbers.erase(numbers.begin() + 80);
  EXPECT_EQ(missing_of(numbers), 1u);
}

TEST(SequenceGaps, NumbersWrap) {
  auto numbers = row(0xffff'ffc0, 128);
  EXPECT_EQ(missing_of(numbers), 0u);
  numbers.erase(numbers.begin() + 64);  // number 0
  EXPECT_EQ(missing_of(numbers), 1u);
  std::swap(numbers[62], numbers[66]);
  EXPECT_EQ(missing_of(numbers), 1u);
}

TEST(SequenceGaps, ASessionThatBeginsAnewLostNothing) {
  auto numbers = row(500'000, 100);
  const auto again = row(0, 100);
  numbers.insert(numbers.end(), again.begin(), again.end());
  EXPECT_EQ(missing_of(numbers), 0u);
}

// Some switches set the flag and count nothing; others mix the numbers of several chips.
TEST(SequenceGaps, WhatDoesNotCountTellsNothing) {
  EXPECT_EQ(missing_of(std::vector<u32>(100, 0)), std::nullopt);
  std::vector<u32> two;
  for (u32 i = 0; i < 100; i++) two.push_back(i % 2 == 0 ? i : 1'000'000 + i);
  EXPECT_EQ(missing_of(two), std::nullopt);
}

TEST(SequenceGaps, MostlyMissingIsAFilter) {
  std::vector<u32> numbers;
  for (u32 i = 0; i < 100; i++) numbers.push_back(10 * i);
  EXPECT_EQ(missing_of(numbers), std::nullopt);
}

TEST(SequenceGaps, AHandfulTellsNothing) {
  EXPECT_EQ(missing_of({1, 2, 4}), std::nullopt);
}

struct Mirrored {
  u32 sequence = 0;
  u8 session = 1;
  bool numbered = true;
  roce::u16 capture = 0;
};

MirrorSequences noted(const std::vector<Mirrored>& all) {
  MirrorSequences mirrors;
  for (const Mirrored& one : all) {
    Buffer header = {u8(one.numbered ? 0x10 : 0), 0, 0x88, 0xbe};
    if (one.numbered)
      for (int shift = 24; shift >= 0; shift -= 8) header.push_back(u8(one.sequence >> shift));
    if (one.numbered) header.insert(header.end(), {0x10, 5, 0, one.session, 0, 0, 0, 1});
    roce::test::put(header, roce::test::kFrame);
    const Buffer frame = roce::test::ethernet(0x0800, roce::test::ipv4(47, header));
    Frame seen;
    seen.bytes = frame;
    seen.wire_size = static_cast<u32>(frame.size());
    seen.link_type = 1;
    seen.capture = one.capture;
    mirrors.note(seen);
  }
  return mirrors;
}

TEST(MirrorSequences, EachSessionCountsForItself) {
  std::vector<Mirrored> all;
  for (u32 i = 0; i < 50; i++) {
    if (i != 20) all.push_back({1000 + i, 1});
    if (i != 30 && i != 31) all.push_back({900'000 + i, 2});
  }
  EXPECT_EQ(noted(all).missing(0), 3u);
  EXPECT_EQ(noted(all).missing(1), std::nullopt);
}

TEST(MirrorSequences, OneCounterForAllSessionsIsSeenAsSuch) {
  std::vector<Mirrored> all;
  for (u32 i = 0; i < 100; i++)
    if (i != 20) all.push_back({i, u8(i % 3)});
  EXPECT_EQ(noted(all).missing(0), 1u);
}

TEST(MirrorSequences, CapturesAreApart) {
  std::vector<Mirrored> all;
  for (u32 i = 0; i < 50; i++) {
    all.push_back({i, 1, true, 0});
    if (i != 7) all.push_back({i, 1, true, 1});
  }
  EXPECT_EQ(noted(all).missing(0), 0u);
  EXPECT_EQ(noted(all).missing(1), 1u);
}

TEST(MirrorSequences, WithoutNumbersNothingIsKnown) {
  EXPECT_EQ(noted(std::vector<Mirrored>(50, {0, 1, false})).missing(0), std::nullopt);
}

}  // namespace
}  // namespace rocetrace::test
