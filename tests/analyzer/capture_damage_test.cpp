// SPDX-License-Identifier: BSD-3-Clause
// Files that are cut, overwritten, or lie. Whatever is readable is read, wherever the window over
// the file happens to end, and what is not is accounted for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "analyzer/capture_files.hpp"

namespace rocetrace::test {
namespace {

// A pipe that gives a few bytes at a time: every piece of a window is asked for.
class Drip final : public ByteStream {
 public:
  Drip(Octets octets, std::size_t piece) : octets_(std::move(octets)), piece_(piece) {}
  std::size_t read(u8* into, std::size_t size) override {
    size = std::min({size, piece_, octets_.size() - at_});
    std::copy_n(octets_.data() + at_, size, into);
    at_ += size;
    return size;
  }
  u64 bytes_read() const override { return at_; }
  u64 total_size() const override { return octets_.size(); }

 private:
  Octets octets_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

struct Outcome {
  std::vector<Seen> seen;
  CaptureInfo info;
};

Outcome read(Capture&& capture) {
  Outcome outcome{read_all(capture), {}};
  outcome.info = capture.info();
  return outcome;
}

// Reads from memory, and through a pipe that drips: both must see the same.
Outcome read_both_ways(const Octets& octets, std::size_t piece = 1000) {
  Outcome whole = read(Capture(octets, "memory"));
  const Outcome dripped =
      read(Capture(buffer_stream(std::make_unique<Drip>(octets, piece)), "pipe"));
  EXPECT_TRUE(whole.seen == dripped.seen);
  EXPECT_EQ(whole.info.cut_short, dripped.info.cut_short);
  EXPECT_EQ(whole.info.damage_count, dripped.info.damage_count);
  EXPECT_EQ(whole.info.damaged_bytes, dripped.info.damaged_bytes);
  return whole;
}

PcapFile some_pcap(u32 count) {
  PcapFile file;
  file.begin();
  for (u32 i = 0; i < count; ++i) file.record(1700000000 + i, i, payload(60 + i % 7, i), 1500);
  return file;
}

PcapngFile some_pcapng(u32 count) {
  PcapngFile file;
  file.section().interface();
  for (u32 i = 0; i < count; ++i) {
    file.packet(0, 1700000000000000 + i, payload(60 + i % 7, i), 1500,
                i % 3 == 0 ? PcapngFile::Options{{1, payload(5)}} : PcapngFile::Options{});
  }
  return file;
}

// How many records of the file end at or before each offset.
TEST(Damage, APcapCutAtAnyByteGivesAllWholeRecords) {
  const PcapFile file = some_pcap(12);
  const auto all = read(Capture(file.octets, "memory")).seen;
  ASSERT_EQ(all.size(), 12U);
  for (std::size_t size = 24; size < file.octets.size(); ++size) {
    const Octets cut(file.octets.begin(), file.octets.begin() + static_cast<long>(size));
    std::size_t whole = 0;
    std::size_t end = 24;
    while (whole < 12 && end + 16 + all[whole].bytes.size() <= size) {
      end += 16 + all[whole++].bytes.size();
    }
    const Outcome outcome = read_both_ways(cut, 7);
    EXPECT_EQ(outcome.seen.size(), whole) << size;
    EXPECT_TRUE(std::equal(outcome.seen.begin(), outcome.seen.end(), all.begin())) << size;
    EXPECT_EQ(outcome.info.cut_short, end != size) << size;
    EXPECT_EQ(outcome.info.damage_count, 0U) << size;
  }
}

TEST(Damage, APcapngCutAtAnyByteGivesAllWholeBlocks) {
  const PcapngFile file = some_pcapng(12);
  const auto all = read(Capture(file.octets, "memory")).seen;
  ASSERT_EQ(all.size(), 12U);
  std::size_t most = 0;
  for (std::size_t size = 12; size < file.octets.size(); ++size) {
    const Octets cut(file.octets.begin(), file.octets.begin() + static_cast<long>(size));
    const Outcome outcome = read_both_ways(cut, 7);
    EXPECT_GE(outcome.seen.size(), most);
    most = outcome.seen.size();
    EXPECT_TRUE(std::equal(outcome.seen.begin(), outcome.seen.end(), all.begin())) << size;
    EXPECT_EQ(outcome.info.damage_count, 0U) << size;
  }
  EXPECT_EQ(most, 11U);
}

TEST(Damage, AFileTooShortForItsHeaderIsNoCapture) {
  const PcapFile file = some_pcap(1);
  for (std::size_t size = 0; size < 24; ++size) {
    const Octets cut(file.octets.begin(), file.octets.begin() + static_cast<long>(size));
    EXPECT_THROW(Capture(cut, "memory"), std::runtime_error) << size;
  }
}

// Puts `garbage` between the records of `first` and `second`.
struct Garbage {
  const char* what;
  Octets octets;
};
std::vector<Garbage> kinds_of_garbage() {
  std::mt19937 random(1);
  Octets noise(5000);
  for (u8& byte : noise) byte = static_cast<u8>(random());
  Octets much_noise(9000000);
  for (u8& byte : much_noise) byte = static_cast<u8>(random());
  return {{"one byte", {0x41}},
          {"text", payload(333)},
          {"zeros", Octets(4096, 0)},
          {"many zeros", Octets(9000001, 0)},
          {"ones", Octets(777, 0xff)},
          {"noise", noise},
          {"more noise than the window", much_noise}};
}

TEST(Damage, PcapRecordsAfterGarbageAreFound) {
  for (const auto& [what, garbage] : kinds_of_garbage()) {
    PcapFile file = some_pcap(20);
    const std::size_t before = file.octets.size();
    file.raw(garbage);
    for (u32 i = 0; i < 20; ++i) file.record(1700000100, i, payload(100, i));
    const Outcome outcome = read_both_ways(file.octets);
    ASSERT_EQ(outcome.seen.size(), 40U) << what;
    EXPECT_EQ(outcome.seen[20].bytes, payload(100, 0)) << what;
    ASSERT_EQ(outcome.info.damages.size(), 1U) << what;
    EXPECT_EQ(outcome.info.damages[0].offset, before) << what;
    EXPECT_EQ(outcome.info.damages[0].skipped, garbage.size()) << what;
    EXPECT_FALSE(outcome.info.cut_short) << what;
  }
}

TEST(Damage, PcapngBlocksAfterGarbageAreFound) {
  for (const auto& [what, garbage] : kinds_of_garbage()) {
    PcapngFile file = some_pcapng(20);
    const std::size_t before = file.octets.size();
    file.octets.insert(file.octets.end(), garbage.begin(), garbage.end());
    for (u32 i = 0; i < 20; ++i) file.packet(0, i, payload(100, i));
    const Outcome outcome = read_both_ways(file.octets);
    ASSERT_EQ(outcome.seen.size(), 40U) << what;
    EXPECT_EQ(outcome.seen[20].bytes, payload(100, 0)) << what;
    ASSERT_EQ(outcome.info.damages.size(), 1U) << what;
    EXPECT_EQ(outcome.info.damages[0].offset, before) << what;
    EXPECT_EQ(outcome.info.damages[0].skipped, garbage.size()) << what;
  }
}

TEST(Damage, GarbageAtTheEndIsToldFromACut) {
  for (const auto& [what, garbage] : kinds_of_garbage()) {
    if (garbage.size() < 16) continue;
    PcapFile file = some_pcap(20);
    const Outcome outcome = read_both_ways(file.raw(garbage).octets);
    EXPECT_EQ(outcome.seen.size(), 20U) << what;
    EXPECT_EQ(outcome.info.damaged_bytes, garbage.size()) << what;
    EXPECT_FALSE(outcome.info.cut_short) << what;
  }
}

TEST(Damage, ARecordThatClaimsTooMuchLosesNoOther) {
  for (const u32 claimed : {200U, 1000U, 100000U}) {
    for (const std::size_t victim : {std::size_t{0}, std::size_t{10}, std::size_t{38}}) {
      PcapFile file = some_pcap(40);
      std::size_t at = 24;
      for (std::size_t i = 0; i < victim; ++i) at += 16 + 60 + i % 7;
      const Octets lie = Writer{}.put32(claimed).put32(262144).octets;
      std::copy(lie.begin(), lie.end(), file.octets.begin() + static_cast<long>(at) + 8);
      const Outcome outcome = read_both_ways(file.octets, 50);
      ASSERT_EQ(outcome.seen.size(), 40U) << claimed << ' ' << victim;
      EXPECT_EQ(outcome.seen[victim].bytes,
                payload(60 + victim % 7, static_cast<unsigned>(victim)));
      ASSERT_EQ(outcome.info.damages.size(), 1U);
      EXPECT_EQ(outcome.info.damages[0].offset, at);
      EXPECT_EQ(outcome.info.damages[0].skipped, 0U);
    }
  }
}

TEST(Damage, ARecordThatClaimsTooLittleLosesNoOther) {
  PcapFile file = some_pcap(40);
  file.octets[24 + 8] = 20;  // of 60
  const Outcome outcome = read_both_ways(file.octets);
  ASSERT_EQ(outcome.seen.size(), 40U);
  EXPECT_EQ(outcome.seen[0].bytes.size(), 20U);
  EXPECT_EQ(outcome.info.damaged_bytes, 40U);
}

TEST(Damage, AnAbsurdLengthCostsOneRecord) {
  for (const u8 top : {u8{0x00}, u8{0x7f}, u8{0xff}}) {
    PcapFile file = some_pcap(40);
    file.octets[24 + 10] = 0xff;
    file.octets[24 + 11] = top;
    EXPECT_EQ(read_both_ways(file.octets).seen.size(), 39U);
  }
}

TEST(Damage, APcapngBlockOfAnyLengthCostsItselfAlone) {
  for (const u32 lie : {0U, 4U, 8U, 12U, 13U, 64U, 0x1000U, 0xfffffU, 0xfffffff0U, 0xffffffffU}) {
    PcapngFile file = some_pcapng(20);
    const std::size_t at = 28 + 20;
    const Octets length = Writer{}.put32(lie).octets;
    std::copy(length.begin(), length.end(), file.octets.begin() + static_cast<long>(at) + 4);
    const Outcome outcome = read_both_ways(file.octets, 50);
    EXPECT_EQ(outcome.seen.size(), 19U) << lie;
    ASSERT_EQ(outcome.info.damages.size(), 1U) << lie;
    EXPECT_EQ(outcome.info.damages[0].offset, at);
  }
}

TEST(Damage, DamagesBeyondTheBoundAreCounted) {
  PcapFile file;
  file.begin();
  for (u32 i = 0; i < 150; ++i) {
    for (u32 k = 0; k < 10; ++k) file.record(1700000000 + i, k, payload(60, k));
    file.raw(Octets(100, 0xff));
  }
  const Outcome outcome = read(Capture(file.octets, "memory"));
  EXPECT_EQ(outcome.seen.size(), 1500U);
  EXPECT_EQ(outcome.info.damages.size(), kMaxDamages);
  EXPECT_EQ(outcome.info.damage_count, 150U);
  EXPECT_EQ(outcome.info.damaged_bytes, 15000U);
}

// Random flips, cuts, overwritten and moved pieces: no crash, the same through a pipe, and never
// more packets than bytes could hold.
TEST(Damage, RandomCorruptionsAreSurvived) {
  std::mt19937 random(20);
  const auto below = [&](std::size_t limit) { return std::size_t{random()} % limit; };
  const std::vector<Octets> originals = {some_pcap(30).octets, some_pcapng(30).octets};
  for (int run = 0; run < 2000; ++run) {
    Octets octets = originals[below(2)];
    for (std::size_t changes = 1 + below(5); changes > 0; --changes) {
      const std::size_t at = below(octets.size());
      switch (below(5)) {
        case 0: octets[at] = static_cast<u8>(random()); break;
        case 1: octets[at] = static_cast<u8>(octets[at] ^ 1U << below(8)); break;
        case 2: octets.resize(std::max<std::size_t>(at, 32)); break;
        case 3:
          octets.erase(octets.begin() + static_cast<long>(at),
                       octets.begin() + static_cast<long>(std::min(octets.size(), at + below(80))));
          if (octets.size() < 32) octets = originals[0];
          break;
        default:
          octets.insert(octets.begin() + static_cast<long>(at), below(80),
                        static_cast<u8>(random()));
      }
    }
    try {
      const Outcome outcome = read_both_ways(octets, 64);
      EXPECT_LE(outcome.info.captured_bytes, octets.size());
      EXPECT_LE(outcome.info.damaged_bytes, octets.size());
    } catch (const std::runtime_error&) {
      // the file header was hit
    }
  }
}

}  // namespace
}  // namespace rocetrace::test
