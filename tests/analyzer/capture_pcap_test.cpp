// SPDX-License-Identifier: BSD-3-Clause
// The pcap format in its variants.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/capture_files.hpp"

namespace rocetrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr u32 kNoon = 1700000000;

PcapFile three_records(PcapFile file) {
  file.begin();
  file.record(kNoon, 1, payload(60, 1)).record(kNoon, 2, payload(128, 2), 1500);
  file.record(kNoon + 1, 3, payload(0));
  return file;
}

class PcapVariants : public testing::TestWithParam<PcapFile> {};

TEST_P(PcapVariants, GiveTheSameFrames) {
  const PcapFile file = three_records(GetParam());
  Capture capture(file.octets, "memory", 7);
  const auto seen = read_all(capture);
  ASSERT_EQ(seen.size(), 3U);
  const u64 unit = file.magic == 0xa1b23c4d ? 1 : 1000;
  EXPECT_EQ(seen[0], (Seen{1, kNoon * u64{1000000000} + unit, payload(60, 1), 60, 1, 0, 7}));
  EXPECT_EQ(seen[1], (Seen{2, kNoon * u64{1000000000} + 2 * unit, payload(128, 2), 1500, 1, 0, 7}));
  EXPECT_EQ(seen[2].number, 3U);
  const CaptureInfo& info = capture.info();
  EXPECT_EQ(info.format, "pcap");
  EXPECT_THAT(info.link_types, ElementsAre(1));
  EXPECT_EQ(info.nanosecond, unit == 1);
  EXPECT_EQ(info.packets, 3U);
  EXPECT_EQ(info.wire_bytes, 1560U);
  EXPECT_EQ(info.captured_bytes, 188U);
  EXPECT_EQ(info.truncated_packets, 1U);
  EXPECT_EQ(info.first_time, seen[0].time);
  EXPECT_EQ(info.last_time, seen[2].time);
  EXPECT_FALSE(info.cut_short);
  EXPECT_TRUE(info.damages.empty());
}

INSTANTIATE_TEST_SUITE_P(
    All, PcapVariants,
    testing::Values(PcapFile{}, PcapFile{.big_endian = true}, PcapFile{.magic = 0xa1b23c4d},
                    PcapFile{.magic = 0xa1b23c4d, .big_endian = true},
                    PcapFile{.magic = 0xa1b2cd34, .extra_header = 8},
                    PcapFile{.magic = 0xa1b2cd34, .big_endian = true, .extra_header = 8},
                    PcapFile{.magic = 0xa1b2cd34, .extra_header = 12}, PcapFile{.extra_header = 8},
                    PcapFile{.extra_header = 4}, PcapFile{.magic = 0x1c0001ab},
                    PcapFile{.magic = 0x1c0001ac, .big_endian = true},
                    PcapFile{.link_type = 0x54000001}));

// Four bytes too early, the fraction of a second stands where the length should: one that reaches
// beyond the end of a small file is no sign of a file that was cut.
TEST(Pcap, TimeIsNotTakenForALength) {
  for (PcapFile file : {PcapFile{.extra_header = 4}, PcapFile{.extra_header = 8},
                        PcapFile{.magic = 0xa1b2cd34, .extra_header = 8},
                        PcapFile{.magic = 0xa1b2cd34, .extra_header = 12}}) {
    SCOPED_TRACE(file.extra_header);
    file.begin();
    for (u32 i = 0; i < 20; ++i) file.record(kNoon, 123456 + i, payload(60, i));
    Capture capture(file.octets, "memory", 0);
    const auto seen = read_all(capture);
    ASSERT_EQ(seen.size(), 20U);
    for (u32 i = 0; i < 20; ++i) EXPECT_EQ(seen[i].bytes, payload(60, i));
    EXPECT_FALSE(capture.info().cut_short);
  }
}

TEST(Pcap, OldVersionsMaySwapTheLengths) {
  PcapFile file{.minor_version = 2};
  file.begin().record(kNoon, 0, payload(1500), 60);  // captured and original exchanged
  file.octets.resize(24 + 16 + 60);
  Capture capture(file.octets, "memory");
  const auto seen = read_all(capture);
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].bytes.size(), 60U);
  EXPECT_EQ(seen[0].wire_size, 1500U);
}

TEST(Pcap, FcsLengthIsNotPartOfTheLinkType) {
  PcapFile file{.link_type = 0x24000071};
  file.begin();
  Capture capture(file.octets, "memory");
  EXPECT_EQ(capture.info().interfaces[0].link_type, 0x71);
  EXPECT_EQ(capture.info().interfaces[0].fcs_bytes, 4);
}

TEST(Pcap, OnlyAHeaderIsAnEmptyCapture) {
  Capture capture(PcapFile{}.begin().octets, "memory");
  FrameBatch batch;
  EXPECT_FALSE(capture.next(batch));
  EXPECT_FALSE(capture.info().cut_short);
  EXPECT_EQ(capture.info().first_time, std::nullopt);
}

TEST(Pcap, TimeMayGoAnywhere) {
  PcapFile file;
  file.begin();
  const std::vector<u32> times = {kNoon, 0, 0xffffffff, kNoon + 1, kNoon - 100000000, kNoon + 2};
  for (const u32 time : times) file.record(time, 5, payload(60));
  Capture capture(file.octets, "memory");
  const auto seen = read_all(capture);
  ASSERT_EQ(seen.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_EQ(seen[i].time, times[i] * u64{1000000000} + 5000);
  }
  EXPECT_TRUE(capture.info().damages.empty());
}

TEST(Pcap, EqualAndBackwardTimesAreCountedAcrossBatches) {
  PcapFile file;
  file.begin();
  for (u32 i = 0; i < 600; ++i) file.record(kNoon, i / 2, payload(60));
  file.record(kNoon, 99, payload(60)).record(kNoon, 100, payload(60));
  Capture capture(file.octets, "memory");
  EXPECT_EQ(read_all(capture).size(), 602U);
  EXPECT_EQ(capture.info().equal_times, 300U);
  EXPECT_EQ(capture.info().backward_times, 1U);
  EXPECT_EQ(capture.info().largest_backward_ns, 200000U);
}

TEST(Pcap, AFileThatIsNoCaptureIsRefused) {
  const Octets text = payload(100);
  try {
    Capture capture(text, "notes.txt");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("notes.txt: not a capture file"));
  }
  EXPECT_THROW(Capture(roce::Bytes{}, "empty"), std::runtime_error);
  EXPECT_THROW(Capture("/nowhere/at/all.pcap"), std::runtime_error);
  EXPECT_THROW(Capture("/"), std::runtime_error);
}

}  // namespace
}  // namespace rocetrace::test
