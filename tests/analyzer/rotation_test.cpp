// SPDX-License-Identifier: BSD-3-Clause
// Which names make a ring, and which times do not fit its order.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/capture_files.hpp"
#include "capture/rotation.hpp"

namespace rocetrace::test {
namespace {

using testing::IsEmpty;

constexpr u64 kSecond = 1'000'000'000, kEpoch = 1'700'000'000 * kSecond;

struct Recorded {
  std::string file;
  double begin = 0, end = 0;  // seconds
  std::string interface = {};
};

std::vector<RotationFault> faults(const std::vector<Recorded>& files) {
  std::vector<CaptureInfo> infos;
  for (const Recorded& one : files) {
    CaptureInfo info;
    info.file = one.file;
    info.first_time = kEpoch + static_cast<u64>(one.begin * 1e9);
    info.last_time = kEpoch + static_cast<u64>(one.end * 1e9);
    note_interface(info, {.name = one.interface, .link_type = 1});
    infos.push_back(std::move(info));
  }
  std::vector<const CaptureInfo*> pointers;
  for (const CaptureInfo& info : infos) pointers.push_back(&info);
  return rotation_faults(pointers);
}

TEST(Rotation, FilesThatFollowEachOtherAreFine) {
  EXPECT_THAT(faults({{"a/r_00001_20260101120000.pcapng", 0, 10},
                      {"a/r_00002_20260101120010.pcapng", 10.01, 20},
                      {"a/r_00003_20260101120020.pcapng", 20, 30}}),
              IsEmpty());
}

TEST(Rotation, TheOrderInWhichTheyAreNamedDoesNotMatter) {
  EXPECT_THAT(faults({{"r_00003_20260101120020.pcap", 20, 30},
                      {"r_00001_20260101120000.pcap", 0, 10},
                      {"r_00002_20260101120010.pcap", 10, 20}}),
              IsEmpty());
}

TEST(Rotation, AFewPacketsMayBeOutOfOrderWhereFilesMeet) {
  EXPECT_THAT(
      faults({{"r_00001_20260101120000.pcap", 0, 10.2}, {"r_00002_20260101120010.pcap", 10, 20}}),
      IsEmpty());
}

TEST(Rotation, AFileThatBeginsBeforeTheOneInFrontEnded) {
  const auto found = faults({{"r_00001_20260101120000.pcap", 0, 10},
                             {"r_00002_20260101120010.pcap", 9.5, 19.5},
                             {"r_00003_20260101120020.pcap", 20, 30}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].capture, 1u);
  EXPECT_EQ(found[0].in_front, 0u);
  EXPECT_EQ(found[0].overlap_ns, kSecond / 2);
  EXPECT_TRUE(found[0].certain);
}

TEST(Rotation, AFileWhollyInsideAnother) {
  const auto found =
      faults({{"r_20260101120000_00001.pcap", 0, 10}, {"r_20260101120010_00002.pcap", 4, 6}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].overlap_ns, 6 * kSecond);
}

TEST(Rotation, AFileOfAnotherDay) {
  const auto found = faults({{"r_00001_20260101120000.pcap", 0, 10},
                             {"r_00002_20260101120010.pcap", 86'410, 86'420},
                             {"r_00003_20260101120020.pcap", 20, 30}});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].capture, 1u);
  EXPECT_EQ(found[0].hole_ns, 86'400 * kSecond);
  EXPECT_EQ(found[1].capture, 2u);
  EXPECT_EQ(found[1].overlap_ns, 86'400 * kSecond);
}

TEST(Rotation, FilesThatAreMissingAreCounted) {
  const auto found =
      faults({{"r_00001_20260101120000.pcap", 0, 10}, {"r_00004_20260101120030.pcap", 30, 40}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].missing, 2u);
  EXPECT_EQ(found[0].overlap_ns, 0u);
  EXPECT_EQ(found[0].hole_ns, 0u);
}

TEST(Rotation, IdleTimesAreNoHoles) {
  EXPECT_THAT(faults({{"r_00001_20260101120000.pcap", 0, 10},
                      {"r_00002_20260101120010.pcap", 400, 410},
                      {"r_00003_20260101120020.pcap", 600, 610}}),
              IsEmpty());
}

// tcpdump -C 1 -W 3: the oldest file is the next that is written again.
TEST(Rotation, ARingThatWentRoundBeginsWithItsOldestFile) {
  EXPECT_THAT(faults({{"r.pcap0", 30, 40}, {"r.pcap1", 40, 50}, {"r.pcap2", 20, 30}}), IsEmpty());
  EXPECT_THAT(faults({{"r.pcap", 0, 10}, {"r.pcap1", 10, 20}, {"r.pcap10", 30, 40}}), IsEmpty());
  const auto found = faults({{"r.pcap0", 30, 40}, {"r.pcap1", 39, 49}, {"r.pcap2", 20, 30}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].capture, 1u);
  EXPECT_EQ(found[0].overlap_ns, kSecond);
}

TEST(Rotation, OlderFilesMayBePacked) {
  const auto found =
      faults({{"r_00001_20260101120000.pcap.gz", 0, 10}, {"r_00002_20260101120010.pcap", 5, 15}});
  ASSERT_EQ(found.size(), 1u);
}

TEST(Rotation, FilesOfOtherCapturesHaveAnotherName) {
  EXPECT_THAT(
      faults({{"a/r_00001_20260101120000.pcap", 0, 10}, {"b/r_00002_20260101120000.pcap", 0, 10}}),
      IsEmpty());
  EXPECT_THAT(faults({{"spine_00001_20260101120000.pcap", 0, 10},
                      {"leaf_00002_20260101120000.pcap", 0, 10}}),
              IsEmpty());
  EXPECT_THAT(faults({{"client.pcap", 0, 10}, {"server.pcap", 0, 10}}), IsEmpty());
}

TEST(Rotation, FilesOfOtherInterfacesAreNotOfTheRing) {
  EXPECT_THAT(faults({{"r_00001_20260101120000.pcapng", 0, 10, "eth0"},
                      {"r_00002_20260101120000.pcapng", 0, 10, "eth1"}}),
              IsEmpty());
}

// Two runs of the same program: which file is of which cannot be told.
TEST(Rotation, NumbersThatComeTwiceAreNoRing) {
  EXPECT_THAT(faults({{"r_00001_20260101120000.pcap", 0, 10},
                      {"r_00001_20260101120005.pcap", 5, 15},
                      {"r_00002_20260101120010.pcap", 10, 20}}),
              IsEmpty());
}

// Hosts are numbered as well as files.
TEST(Rotation, CapturesOfNumberedHostsAreNoRing) {
  EXPECT_THAT(faults({{"node001.pcap", 0, 10},
                      {"node002.pcap", 0, 10},
                      {"node003.pcap", 0, 10},
                      {"node004.pcap", 0, 10}}),
              IsEmpty());
  EXPECT_THAT(faults({{"host1.pcap", 0, 10}, {"host2.pcap", 0, 10}}), IsEmpty());
}

TEST(Rotation, ManyUncertainNamesInOrderMakeARing) {
  const auto found = faults({{"t-20260101-120000.pcap", 0, 10},
                             {"t-20260101-120010.pcap", 10, 20},
                             {"t-20260101-120020.pcap", 15, 30},
                             {"t-20260101-120030.pcap", 30, 40}});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].capture, 2u);
  EXPECT_FALSE(found[0].certain);
}

TEST(Rotation, FilesWithoutPacketsSayNothing) {
  CaptureInfo empty, full;
  empty.file = "r_00001_20260101120000.pcap";
  full.file = "r_00002_20260101120010.pcap";
  full.first_time = full.last_time = kEpoch;
  const std::vector<const CaptureInfo*> captures = {&empty, &full};
  EXPECT_THAT(rotation_faults(captures), IsEmpty());
}

TEST(Rotation, AnyNameIsTaken) {
  for (const std::string name :
       {"", "-", ".pcap", "_.pcap", "_00001_.pcap", "1.pcap", "99999999999999999999.pcap",
        "r_99999999999999999999_20260101120000.pcap", "20260101120000_00001.pcap",
        "x.pcap9999999999999999999", "00001_20260101120000.pcap", "120000.pcap", "001.pcap", "r.gz",
        ".gz"})
    EXPECT_THAT(faults({{name, 0, 1}, {name + "x", 0, 1}}), IsEmpty()) << name;
}

}  // namespace
}  // namespace rocetrace::test
