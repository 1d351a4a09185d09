// SPDX-License-Identifier: BSD-3-Clause
// Timestamps behind the packets: used when it is certain that they are timestamps, harmless if not.

#include <gtest/gtest.h>

#include <functional>

#include "capture_files.hpp"
#include "support/packet.hpp"

namespace rocetrace::test {
namespace {

using roce::test::Packet;

constexpr u64 kSecond = 1'000'000'000;
constexpr u64 kStart = 1'700'000'000 * kSecond;

using Trailer = std::function<Octets(u64 time)>;

Octets metamako(u64 time) {
  Writer out{.big_endian = true};
  out.put32(0x01020304).put32(time / kSecond).put32(time % kSecond);
  return out.put(1, 1).put16(7).put(3, 1).octets;
}
Octets exablaze(u64 time) {
  Writer out{.big_endian = true};
  out.put32(0x01020304).put(9, 1).put(2, 1).put32(time / kSecond);
  // Rounded up, so that it is the same nanosecond when it is cut off.
  const u64 fraction = ((time % kSecond << 32) / kSecond + 1) << 8;
  return out.put(fraction, 5).put(0, 1).octets;
}
Octets vss(u64 time) {
  Writer out{.big_endian = true};
  return out.put32(time / kSecond).put32(time % kSecond | 3u << 30).put(5, 1).octets;
}
Octets ixia(u64 time) {
  Writer out{.big_endian = true};
  out.put(4, 1).put(8, 1).put32(time / kSecond).put32(time % kSecond);
  return out.put(10, 1).put16(0xaf12).put16(0x5555).octets;
}

/// 32 packets, 1 ms apart by the capture's clock; trailers run `ahead` of it, and each comes 10 ns
/// later after the one before than the capture says.
Octets capture_with(const Trailer& trailer, u64 ahead, bool fcs = false, std::size_t cut = 65535) {
  PcapFile file;
  file.magic = 0xa1b23c4d;
  file.begin();
  for (unsigned i = 0; i < 32; i++) {
    const auto packet = Packet{.psn = i, .payload_size = 64, .vlans = {100}}.frame();
    Octets bytes(packet.begin(), packet.end());
    const Octets behind = trailer(kStart + i * 1'000'000 + ahead + i * 10);
    bytes.insert(bytes.end(), behind.begin(), behind.end());
    if (fcs) bytes.insert(bytes.end(), 4, 0xee);
    const std::size_t whole = bytes.size();
    if (bytes.size() > cut) bytes.resize(cut);
    file.record(kStart / kSecond, i * 1'000'000, bytes, static_cast<u32>(whole));
  }
  return file.octets;
}

struct Read {
  std::vector<u64> times;
  CaptureInfo info;
};

Read read(const Octets& octets) {
  Capture capture(roce::Bytes(octets), "trailers.pcap");
  Read out;
  FrameBatch batch;
  while (capture.next(batch))
    for (const Frame& frame : batch) out.times.push_back(frame.time);
  out.info = capture.info();
  return out;
}

struct Kind {
  const char* name;
  Trailer trailer;
  const char* source;
};

class Trailers : public testing::TestWithParam<Kind> {};

TEST_P(Trailers, GiveTheTimes) {
  for (const bool fcs : {false, true}) {
    const Read seen = read(capture_with(GetParam().trailer, 5'000'000, fcs));
    ASSERT_EQ(seen.times.size(), 32u);
    for (unsigned i = 0; i < 32; i++)
      EXPECT_EQ(seen.times[i], kStart + i * 1'000'010 + 5'000'000) << i;
    EXPECT_EQ(seen.info.time_source, GetParam().source);
    EXPECT_EQ(seen.info.time_offset_ns, 5'000'000);
    EXPECT_EQ(seen.info.first_time, kStart + 5'000'000);
    EXPECT_EQ(seen.info.last_time, kStart + 31 * 1'000'010 + 5'000'000);
    EXPECT_EQ(seen.info.backward_times, 0u);
  }
}
TEST_P(Trailers, CutOffByTheCaptureDoNotMatter) {
  const Read seen = read(capture_with(GetParam().trailer, 5'000'000, false, 100));
  EXPECT_EQ(seen.times[31], kStart + 31'000'000);
  EXPECT_TRUE(seen.info.time_source.empty());
}
TEST_P(Trailers, OfAnotherYearAreNotBelieved) {
  const Read seen = read(capture_with(GetParam().trailer, 40'000'000 * kSecond));
  EXPECT_EQ(seen.times[31], kStart + 31'000'000);
  EXPECT_TRUE(seen.info.time_source.empty());
}
INSTANTIATE_TEST_SUITE_P(Capture, Trailers,
                         testing::Values(Kind{"metamako", metamako, "Metamako (Arista 7130)"},
                                         Kind{"exablaze", exablaze, "Exablaze (Cisco Nexus 3550)"},
                                         Kind{"vss", vss, "VSS Monitoring"},
                                         Kind{"ixia", ixia, "Ixia"}),
                         [](const auto& kind) { return kind.param.name; });

TEST(Trailer, OfOtherBytesIsIgnored) {
  for (const std::size_t size : {1u, 8u, 12u, 15u, 16u, 18u, 20u, 46u}) {
    const Read seen = read(
        capture_with([&](u64 time) { return Octets(size, static_cast<u8>(time / 1'000'000)); }, 0));
    EXPECT_EQ(seen.times[31], kStart + 31'000'000) << size;
    EXPECT_TRUE(seen.info.time_source.empty()) << size;
  }
}

// A clock that jumps about is no clock, even if every value of it could be a time.
TEST(Trailer, ThatDisagreesWithTheOthersIsNotBelieved) {
  const Read seen = read(
      capture_with([](u64 time) { return metamako(time + time / 1'000'000 % 7 * kSecond); }, 0));
  EXPECT_EQ(seen.times[31], kStart + 31'000'000);
  EXPECT_TRUE(seen.info.time_source.empty());
}

TEST(Trailer, IsWhatStandsBehindTheIpPacket) {
  for (const char* source : {"10.0.0.1", "fd00::1"}) {
    const bool v6 = source[0] == 'f';
    auto frame = Packet{
        .payload_size = 64,
        .source = source,
        .destination = v6 ? "fd00::2" : "10.0.0.2",
        .vlans = {1,
                  2}}.frame();
    EXPECT_TRUE(roce::net::trailer_of(frame).empty());
    frame.insert(frame.end(), 9, 0x77);
    EXPECT_EQ(roce::net::trailer_of(frame).size(), 9u);
    for (std::size_t size = 0; size < frame.size(); size++)
      roce::net::trailer_of(roce::Bytes(frame).first(size));
  }
}

}  // namespace
}  // namespace rocetrace::test
