// SPDX-License-Identifier: BSD-3-Clause
// ICMP errors about RoCE packets.

#include "roce/net/icmp_error.hpp"

#include <gtest/gtest.h>

#include "support/wrap.hpp"

namespace roce::net {
namespace {

using test::Buffer;

const Buffer kQuoted =
    test::Packet{
        .opcode = 0x0a, .dest_qp = 0x11, .psn = 7, .payload_size = 64, .source_port = 49200}
        .network();
const Buffer kQuoted6 =
    test::Packet{
        .opcode = 0x0a, .psn = 7, .payload_size = 64, .source = "fe80::1", .destination = "fe80::2"}
        .network();

Buffer first(const Buffer& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}
Buffer unreachable(unsigned code, const Buffer& quoted) {
  return test::ethernet(0x0800,
                        test::ipv4(1, test::wrap({3, code, 0, 0, 0, 0, 0x05, 0xdc}, quoted)));
}
std::optional<IcmpError> decode(const Buffer& frame) {
  Path path;
  const Cursor at = walk_to_unopened(frame, frame.size(), 1, path);
  if (at.next != kIcmp && at.next != kIcmpV6) return std::nullopt;
  return decode_icmp_error(at, path);
}

TEST(IcmpError, QuotesTheHeadersOfARocePacket) {
  const auto error = decode(unreachable(3, kQuoted));
  ASSERT_TRUE(error);
  EXPECT_EQ(icmp_error_name(error->is_v6, error->type, error->code), "port unreachable");
  EXPECT_EQ(error->reporter.text().view(), "192.0.2.1");
  EXPECT_EQ(error->source, test::address(test::Packet{}.source));
  EXPECT_EQ(error->destination, test::address(test::Packet{}.destination));
  EXPECT_EQ(error->source_port, 49200);
  ASSERT_TRUE(error->bth);
  EXPECT_EQ(error->bth->dest_qp, 0x11u);
  EXPECT_EQ(error->bth->psn, 7u);
  EXPECT_EQ(error->mtu, 0u);
}

TEST(IcmpError, EightBytesOfTheDatagramAreEnough) {
  const auto error = decode(unreachable(1, first(kQuoted, 28)));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->source_port, 49200);
  EXPECT_FALSE(error->bth);
}

TEST(IcmpError, FragmentationNeededNamesTheMtu) {
  EXPECT_EQ(decode(unreachable(4, kQuoted))->mtu, 1500u);
}

TEST(IcmpError, PacketTooBigNamesTheMtuToo) {
  const auto error = decode(
      test::ethernet(0x86dd, test::ipv6(58, test::wrap({2, 0, 0, 0, 0, 0, 0x05, 0x00}, kQuoted6))));
  ASSERT_TRUE(error);
  EXPECT_EQ(error->mtu, 1280u);
  EXPECT_EQ(error->source.text().view(), "fe80::1");
  EXPECT_EQ(icmp_error_name(error->is_v6, error->type, error->code), "packet too big");
}

TEST(IcmpError, AboutOtherPacketsIsNoMatter) {
  const Buffer dns = test::ipv4(17, test::udp(53, Buffer(20)));
  EXPECT_FALSE(decode(unreachable(3, dns)));
  EXPECT_FALSE(decode(unreachable(3, {})));
  const Buffer echo = test::ethernet(0x0800, test::ipv4(1, test::wrap({8, 0, 0, 0}, kQuoted)));
  EXPECT_FALSE(decode(echo));
}

TEST(IcmpError, SurvivesEveryCut) {
  const Buffer frame = unreachable(3, kQuoted);
  for (std::size_t size = 0; size < frame.size(); size++) {
    const auto error = decode(first(frame, size));
    // Ethernet, IPv4, ICMP, and of what is quoted IPv4 and two ports.
    EXPECT_EQ(error.has_value(), size >= 14 + 20 + 8 + 20 + 4) << size;
  }
}

TEST(IcmpError, EveryTypeAndCodeHasAName) {
  for (unsigned type = 0; type < 256; type++)
    for (unsigned code = 0; code < 256; code++)
      for (const bool is_v6 : {false, true})
        EXPECT_FALSE(icmp_error_name(is_v6, static_cast<u8>(type), static_cast<u8>(code)).empty());
}

}  // namespace
}  // namespace roce::net
