// SPDX-License-Identifier: BSD-3-Clause
// The ICRC: what it covers, what it leaves out, and when it cannot be checked.

#include "roce/icrc.hpp"

#include <gtest/gtest.h>

#include "roce/net/observe.hpp"
#include "support/packet.hpp"

namespace roce {
namespace {

using test::Buffer;
using test::Packet;

IcrcCheck check(Bytes frame, std::size_t wire_size) {
  net::AddressTable addresses;
  flow::Observation seen;
  net::Located at;
  EXPECT_EQ(net::observe_frame(frame, static_cast<u32>(wire_size), 1, addresses, seen, at),
            net::Sighting::roce);
  return check_icrc(frame, at);
}
IcrcCheck check(const Buffer& frame) {
  return check(frame, frame.size());
}

const Packet kShapes[] = {
    {.payload_size = 100},
    {.payload_size = 101, .vlans = {100}},
    {.payload_size = 100, .source = "fe80::1", .destination = "fe80::2", .flow_label = 0x12345},
    {.payload_size = 102, .version = 1, .source = "fe80::1", .destination = "fe80::2"},
};

/// The bytes, from the network header on, whose change the ICRC does not notice.
std::vector<std::size_t> unnoticed(const Packet& shape) {
  const Buffer frame = shape.frame();
  const std::size_t network = frame.size() - shape.network().size();
  std::vector<std::size_t> out;
  net::AddressTable addresses;
  flow::Observation seen;
  net::Located at;
  net::observe_frame(frame, static_cast<u32>(frame.size()), 1, addresses, seen, at);
  for (std::size_t i = network; i < frame.size(); i++) {
    Buffer changed = frame;
    changed[i] ^= 0x05;
    if (check_icrc(changed, at) == IcrcCheck::good) out.push_back(i - network);
  }
  return out;
}

TEST(Icrc, LeavesOutWhatHopsChangeInIpv4) {
  // TOS, TTL, header checksum; UDP checksum; BTH byte 4.
  EXPECT_EQ(unnoticed(kShapes[0]), (std::vector<std::size_t>{1, 8, 10, 11, 26, 27, 32}));
}

TEST(Icrc, LeavesOutWhatHopsChangeInIpv6) {
  // Traffic class and flow label (the low nibble of byte 0 on), hop limit; UDP checksum; BTH.
  EXPECT_EQ(unnoticed(kShapes[2]), (std::vector<std::size_t>{0, 1, 2, 3, 7, 46, 47, 52}));
}

TEST(Icrc, LeavesOutWhatHopsChangeInAGrh) {
  EXPECT_EQ(unnoticed(kShapes[3]), (std::vector<std::size_t>{0, 1, 2, 3, 7, 44}));
}

TEST(Icrc, IsNotCapturedUnlessAllOfItIs) {
  for (const Packet& shape : kShapes) {
    const Buffer frame = shape.frame();
    EXPECT_EQ(check(frame), IcrcCheck::good);
    EXPECT_EQ(check(Bytes(frame).first(frame.size() - 1), frame.size()), IcrcCheck::not_captured);
    EXPECT_EQ(check(Bytes(frame).first(80), frame.size()), IcrcCheck::not_captured);
  }
}

TEST(Icrc, AWrongOneIsBad) {
  for (Packet shape : kShapes) {
    shape.good_icrc = false;
    EXPECT_EQ(check(shape.frame()), IcrcCheck::bad);
  }
}

TEST(Icrc, TrailersAreOutside) {
  Packet shape = kShapes[0];
  shape.trailer = 17;
  EXPECT_EQ(check(shape.frame()), IcrcCheck::good);
}

TEST(Crc32, ChainsAtEveryLength) {
  Buffer bytes(100);
  for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<u8>(i * 37 + 11);
  const u32 whole = crc32(0, bytes.data(), bytes.size());
  for (std::size_t i = 0; i <= bytes.size(); i++) {
    EXPECT_EQ(crc32(crc32(0, bytes.data(), i), bytes.data() + i, bytes.size() - i), whole) << i;
  }
}

}  // namespace
}  // namespace roce
