// SPDX-License-Identifier: BSD-3-Clause
// The pcapng format: blocks, sections, interfaces and their clocks.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzer/capture_files.hpp"
#include "capture/timestamp.hpp"

namespace rocetrace::test {
namespace {

using testing::ElementsAre;

constexpr u64 kNoonUs = 1700000000000000;

class PcapngOrders : public testing::TestWithParam<bool> {};

TEST_P(PcapngOrders, InterfacesHaveTheirOwnTypeAndClock) {
  PcapngFile file{.big_endian = GetParam()};
  file.section({{3, PcapngFile::text("Linux")}});
  file.interface(1, {{2, PcapngFile::text("eth0")}, {3, PcapngFile::text("port 1")}});
  file.interface(113, {{9, {9}}, {14, file.number(100)}});
  file.packet(0, kNoonUs + 1, payload(61, 1));
  file.packet(1, kNoonUs * 1000, payload(128, 2), 4096);
  Capture capture(file.octets, "memory", 3);
  const auto seen = read_all(capture);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0], (Seen{1, (kNoonUs + 1) * 1000, payload(61, 1), 61, 1, 0, 3}));
  EXPECT_EQ(seen[1], (Seen{2, kNoonUs * 1000 + 100000000000, payload(128, 2), 4096, 113, 1, 3}));
  const CaptureInfo& info = capture.info();
  EXPECT_EQ(info.format, "pcapng");
  EXPECT_EQ(info.os, "Linux");
  EXPECT_THAT(info.link_types, ElementsAre(1, 113));
  EXPECT_EQ(info.interfaces[0].name, "eth0");
  EXPECT_EQ(info.interfaces[0].description, "port 1");
  EXPECT_EQ(info.interfaces[0].tick_ns, 1000U);
  EXPECT_EQ(info.interfaces[1].tick_ns, 1U);
  EXPECT_FALSE(info.nanosecond);
  EXPECT_EQ(info.truncated_packets, 1U);
  EXPECT_TRUE(info.damages.empty());
  EXPECT_FALSE(info.cut_short);
}

INSTANTIATE_TEST_SUITE_P(Both, PcapngOrders, testing::Bool());

TEST(Pcapng, SectionsCountTheirInterfacesAnew) {
  PcapngFile little;
  little.section().interface(1).packet(0, 1, payload(60));
  PcapngFile big{.big_endian = true};
  big.section().interface(113).packet(0, 2, payload(61));
  Octets both = little.octets;
  both.insert(both.end(), big.octets.begin(), big.octets.end());
  both.insert(both.end(), little.octets.begin(), little.octets.end());
  Capture capture(both, "memory");
  const auto seen = read_all(capture);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[1].link_type, 113);
  EXPECT_EQ(seen[1].interface, 1U);
  EXPECT_EQ(seen[2].interface, 2U);
  EXPECT_THAT(capture.info().link_types, ElementsAre(1, 113));
  EXPECT_TRUE(capture.info().damages.empty());
}

TEST(Pcapng, SimpleAndObsoletePackets) {
  PcapngFile file;
  file.section().interface(1, {}, 100);
  file.block(
      2, Writer{}.put16(0).put16(3).put32(0).put32(77).put32(5).put32(9).put(payload(5)).octets);
  file.block(3, Writer{}.put32(60).put(payload(60)).octets);
  file.block(3, Writer{}.put32(1000).put(payload(100)).octets);
  Capture capture(file.octets, "memory");
  const auto seen = read_all(capture);
  ASSERT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen[0].bytes, payload(5));
  EXPECT_EQ(seen[0].time, 77000U);
  EXPECT_EQ(seen[1].bytes, payload(60));
  EXPECT_EQ(seen[1].time, 77000U);
  EXPECT_EQ(seen[2].bytes, payload(100));
  EXPECT_EQ(seen[2].wire_size, 1000U);
  EXPECT_EQ(capture.info().untimed_packets, 2U);
}

TEST(Pcapng, OtherBlocksAreSteppedOver) {
  PcapngFile file;
  file.section().interface();
  file.block(4, payload(40)).block(10, payload(3000)).block(0xbad, payload(16));
  file.block(0x40000bad, payload(8)).block(0x12345678, payload(100)).block(9, {});
  file.packet(0, 1, payload(60));
  Capture capture(file.octets, "memory");
  EXPECT_EQ(read_all(capture).size(), 1U);
  EXPECT_TRUE(capture.info().damages.empty());
}

TEST(Pcapng, DropCountsAndCommentsAreKept) {
  PcapngFile file;
  file.section({{1, PcapngFile::text("of the file")}});
  file.interface(1, {{1, PcapngFile::text("of the interface")}});
  file.packet(0, 1, payload(60), 0, {{1, PcapngFile::text("look here")}, {4, file.number(2)}});
  file.packet(0, 2, payload(60), 0, {{4, file.number(3)}});
  const auto statistics = Writer{}.put32(0).put64(0).octets;
  file.block(5, statistics, {{5, file.number(10)}});
  file.block(5, statistics, {{5, file.number(12)}, {7, file.number(1)}});
  Capture capture(file.octets, "memory");
  EXPECT_EQ(read_all(capture).size(), 2U);
  const CaptureInfo& info = capture.info();
  EXPECT_THAT(info.comments, ElementsAre("of the file", "look here"));
  EXPECT_THAT(info.interfaces[0].comments, ElementsAre("of the interface"));
  EXPECT_EQ(info.interfaces[0].dropped_by_interface, 12U);
  EXPECT_EQ(info.interfaces[0].dropped_by_os, 1U);
  EXPECT_EQ(info.interfaces[0].dropped_by_packet, 5U);
}

TEST(Pcapng, APacketLongerThanItsBlockGivesWhatIsThere) {
  PcapngFile file;
  file.section().interface().packet(0, 1, payload(60), 1500).packet(0, 2, payload(60));
  file.octets[28 + 20 + 20] = 200;  // captured length of the first packet
  Capture capture(file.octets, "memory");
  const auto seen = read_all(capture);
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].bytes, payload(60));
  EXPECT_EQ(capture.info().damage_count, 1U);
}

TEST(Pcapng, APacketOfAnUnknownInterfaceIsLeftOut) {
  PcapngFile file;
  file.section().interface().packet(3, 1, payload(60)).packet(0, 2, payload(60));
  Capture capture(file.octets, "memory");
  EXPECT_EQ(read_all(capture).size(), 1U);
  EXPECT_EQ(capture.info().damage_count, 1U);
}

TEST(Clock, ResolutionsOfTenAndTwo) {
  EXPECT_EQ(Clock().nanoseconds(5), 5000U);
  EXPECT_EQ(Clock(0, 0).nanoseconds(5), 5000000000U);
  EXPECT_EQ(Clock(9, 0).nanoseconds(5), 5U);
  EXPECT_EQ(Clock(12, 0).nanoseconds(5000), 5U);
  EXPECT_EQ(Clock(0x80 | 10, 0).nanoseconds(3 * 1024 + 512), 3500000000U);
  EXPECT_EQ(Clock(0x80 | 32, 0).nanoseconds((u64{7} << 32) + (u64{1} << 31)), 7500000000U);
  EXPECT_EQ(Clock(0x80 | 40, 0).nanoseconds((u64{7} << 40) + (u64{1} << 39)), 7500000000U);
  EXPECT_EQ(Clock(9, 0).tick_ns(), 1U);
  EXPECT_EQ(Clock(12, 0).tick_ns(), 0U);
  EXPECT_EQ(Clock(0x80 | 20, 0).tick_ns(), 953U);
}

TEST(Clock, OffsetsShiftAndAbsurdTimesStayInRange) {
  EXPECT_EQ(Clock(9, -1).nanoseconds(3000000000), 2000000000U);
  EXPECT_EQ(Clock(9, -1).nanoseconds(5), 0U);
  EXPECT_EQ(Clock(9, 1).nanoseconds(5), 1000000005U);
  EXPECT_EQ(Clock(0, 0).nanoseconds(~u64{0}), ~u64{0});
  EXPECT_EQ(Clock(9, 1).nanoseconds(~u64{0}), ~u64{0});
  for (unsigned resolution = 0; resolution < 256; ++resolution) {
    for (const i64 offset : {i64{0}, i64{1} << 62, -(i64{1} << 62)}) {
      const Clock clock(static_cast<u8>(resolution), offset);
      EXPECT_LE(clock.nanoseconds(0), clock.nanoseconds(~u64{0}));
    }
  }
}

}  // namespace
}  // namespace rocetrace::test
