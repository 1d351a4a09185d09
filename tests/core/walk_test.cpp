// SPDX-License-Identifier: BSD-3-Clause
// The walk through every encapsulation and link type, and what the path remembers of it.

#include <gtest/gtest.h>

#include "roce/icrc.hpp"
#include "roce/net/observe.hpp"
#include "support/encapsulations.hpp"

namespace roce::net {
namespace {

using test::Buffer;
using test::ethernet;
using test::gre;
using test::infiniband;
using test::ipv4;
using test::ipv6;
using test::kFrame;
using test::kGrh;
using test::kIp;
using test::put;
using test::udp;
using test::vlan;
using test::vxlan;
using test::wrap;

TEST(Walk, EveryEncapsulationLeadsToThePacket) {
  for (const test::Encapsulation& c : test::encapsulations()) {
    SCOPED_TRACE(c.name);
    AddressTable addresses;
    flow::Observation seen;
    Located at;
    ASSERT_EQ(
        observe_frame(c.frame, static_cast<u32>(c.frame.size()), c.link_type, addresses, seen, at),
        Sighting::roce);
    EXPECT_EQ(seen.psn, 0x123456u);
    EXPECT_EQ(seen.opcode, 0x0a);
    EXPECT_EQ(seen.payload_size, 50u);
    EXPECT_EQ(seen.dma_length, 50u);
    EXPECT_TRUE(seen.has(flow::kHasIcrc));
    if (seen.version != 0) {
      EXPECT_EQ(check_icrc(c.frame, at), IcrcCheck::good);
    }
  }
}

TEST(Walk, EveryEncapsulationSurvivesEveryCut) {
  for (const test::Encapsulation& c : test::encapsulations()) {
    SCOPED_TRACE(c.name);
    bool reached = false;
    for (std::size_t size = 0; size < c.frame.size(); size++) {
      AddressTable addresses;
      flow::Observation seen;
      Located at;
      const Buffer cut(c.frame.begin(), c.frame.begin() + static_cast<std::ptrdiff_t>(size));
      const Sighting sighting =
          observe_frame(cut, static_cast<u32>(c.frame.size()), c.link_type, addresses, seen, at);
      // Once there is enough to see the packet, more never hides it.
      if (reached) {
        EXPECT_EQ(sighting, Sighting::roce) << size;
      }
      reached = reached || sighting == Sighting::roce;
      if (sighting == Sighting::roce) {
        EXPECT_EQ(seen.payload_size, 50u) << size;
      }
    }
  }
}

TEST(Walk, EveryEncapsulationSurvivesEveryFlippedByte) {
  for (const test::Encapsulation& c : test::encapsulations()) {
    for (std::size_t i = 0; i < c.frame.size(); i++) {
      for (unsigned flip : {0x01u, 0x10u, 0x80u, 0xffu}) {
        Buffer changed = c.frame;
        changed[i] = static_cast<u8>(changed[i] ^ flip);
        AddressTable addresses;
        flow::Observation seen;
        Located at;
        if (observe_frame(changed, static_cast<u32>(changed.size()), c.link_type, addresses, seen,
                          at) == Sighting::roce) {
          check_icrc(changed, at);
        }
      }
    }
  }
}

// The packet inside a tunnel is decoded at fixed offsets where it can be.
void expect_same(Bytes frame, u32 wire_size, u16 link_type) {
  AddressTable addresses, slow_addresses;
  flow::Observation seen, slow;
  Located at, slow_at;
  const Sighting sighting = observe_frame(frame, wire_size, link_type, addresses, seen, at);
  ASSERT_EQ(sighting, observe_slowly(frame, wire_size, link_type, slow_addresses, slow, slow_at));
  if (sighting != Sighting::roce) return;
  ASSERT_EQ(seen, slow);
  ASSERT_EQ(at, slow_at);
}

TEST(Walk, FastEqualsSlowInEveryEncapsulation) {
  for (const test::Encapsulation& c : test::encapsulations()) {
    SCOPED_TRACE(c.name);
    const u32 wire_size = static_cast<u32>(c.frame.size());
    for (std::size_t i = 0; i < c.frame.size(); i++) {
      expect_same(Bytes(c.frame).first(i), wire_size, c.link_type);
      Buffer changed = c.frame;
      for (unsigned bit = 0; bit < 8; bit++) {
        changed[i] = static_cast<u8>(c.frame[i] ^ 1u << bit);
        expect_same(changed, wire_size, c.link_type);
      }
    }
  }
}

// --- what the path remembers

Path walked(const Buffer& frame, u32 link_type = 1) {
  Path path;
  walk(frame, frame.size(), link_type, path);
  return path;
}
std::vector<LayerKind> kinds(const Path& path) {
  std::vector<LayerKind> out;
  for (const Layer& layer : path.passed()) out.push_back(layer.kind);
  return out;
}

TEST(Walk, InnerVlanWins) {
  const Path path = walked(ethernet(0x88a8, vlan(0x0001, 0x8100, vlan(0x6064, 0x0800, kIp))));
  EXPECT_TRUE(path.has_vlan);
  EXPECT_EQ(path.vlan, 0x6064);
}

TEST(Walk, ATunnelForgetsTheVlanOutside) {
  Buffer frame = ethernet(0x8100, vlan(5, 0x0800, {}));
  const Buffer tunnel = vxlan(kFrame);
  frame.insert(frame.end(), tunnel.begin() + 14, tunnel.end());
  const Path path = walked(frame);
  EXPECT_EQ(path.ending, Ending::none);
  EXPECT_FALSE(path.has_vlan);
  EXPECT_EQ(path.tunnels, 1);
}

TEST(Walk, InnerAddressesWin) {
  const Path path = walked(vxlan(kFrame));
  EXPECT_EQ(path.source.text().view(), "10.0.0.1");
  EXPECT_EQ(path.destination.text().view(), "10.0.0.2");
  EXPECT_EQ(path.source_mac[5], 1);
  EXPECT_EQ(path.source_port, 0xc000);
}

TEST(Walk, LayersAreListedFromOutsideIn) {
  const Path path = walked(vxlan(kFrame));
  using enum LayerKind;
  EXPECT_EQ(kinds(path),
            (std::vector{LayerKind::ethernet, LayerKind::ipv4, LayerKind::udp, LayerKind::vxlan,
                         LayerKind::ethernet, LayerKind::ipv4, LayerKind::udp}));
  EXPECT_EQ(path.passed()[3].id, 77u);
  EXPECT_EQ(path.passed()[3].offset, 14u + 20 + 8);
  EXPECT_EQ(layer_name(path.passed()[3].kind), "VXLAN");
}

TEST(Walk, ErspanTellsOfTheMirror) {
  const Path two =
      walked(gre({0x10, 0, 0x88, 0xbe, 0, 0, 1, 42, 0x10, 5, 3, 99, 0, 0, 0, 1}, kFrame));
  EXPECT_EQ(two.mirror.erspan_type, 2);
  EXPECT_EQ(two.mirror.session, 0x363);
  EXPECT_TRUE(two.mirror.has_sequence);
  EXPECT_EQ(two.mirror.sequence, 298u);
  const Path three = walked(
      gre({0x10, 0, 0x22, 0xeb, 0, 0, 0, 42, 0x20, 5, 0, 99, 1, 2, 3, 4, 0, 0, 0, 4}, kFrame));
  EXPECT_EQ(three.mirror.erspan_type, 3);
  EXPECT_EQ(three.mirror.timestamp, 0x01020304u);
  EXPECT_EQ(three.mirror.granularity, Granularity::nanoseconds);
}

TEST(Walk, NativeInfinibandHasLids) {
  AddressTable addresses;
  flow::Observation seen;
  Located at;
  const Buffer frame = infiniband(false);
  ASSERT_EQ(observe_frame(frame, static_cast<u32>(frame.size()), 247, addresses, seen, at),
            Sighting::roce);
  EXPECT_EQ(seen.version, 0);
  EXPECT_EQ(addresses.address(seen.source).text().view(), "lid:7");
  EXPECT_EQ(addresses.address(seen.destination).text().view(), "lid:9");
}

TEST(Walk, TheIcrcOfNativeInfinibandBeginsWithTheLrh) {
  Buffer frame = infiniband(true);
  AddressTable addresses;
  flow::Observation seen;
  Located at;
  observe_frame(frame, static_cast<u32>(frame.size()), 247, addresses, seen, at);
  // Computed by hand: the header's bytes that hops change read as ones, then a plain CRC.
  Buffer covered(frame.begin(), frame.end() - 2 - 4);
  covered[0] |= 0xf0;
  covered[8] |= 0x0f;
  covered[9] = covered[10] = covered[11] = covered[15] = 0xff;
  covered[8 + 40 + 4] = 0xff;
  const u32 crc = crc32(0, covered.data(), covered.size());
  for (std::size_t i = 0; i < 4; i++) frame[frame.size() - 6 + i] = static_cast<u8>(crc >> 8 * i);
  EXPECT_EQ(check_icrc(frame, at), IcrcCheck::good);
  frame[0] = 0x50;  // another virtual lane
  EXPECT_EQ(check_icrc(frame, at), IcrcCheck::good);
  frame[1] = 0x13;  // another service level
  EXPECT_EQ(check_icrc(frame, at), IcrcCheck::bad);
}

// --- what is not opened, or leads nowhere

TEST(Walk, WhatIsEncryptedIsNamed) {
  const Path macsec = walked(ethernet(0x88e5, kIp));
  EXPECT_EQ(macsec.ending, Ending::encrypted);
  EXPECT_EQ(layer_name(macsec.passed().back().kind), "MACsec");
  EXPECT_EQ(walked(ethernet(0x0800, ipv4(50, kIp))).ending, Ending::encrypted);
  EXPECT_EQ(walked(ethernet(0x0800, ipv4(17, udp(4500, kIp)))).ending, Ending::encrypted);
}

TEST(Walk, NestingIsBounded) {
  Buffer frame = kIp;
  for (int i = 0; i < 100; i++) frame = ipv4(4, frame);
  EXPECT_EQ(walked(frame, 101).ending, Ending::too_deep);
}

TEST(Walk, OtherFramesEndSomewhereElse) {
  EXPECT_EQ(walked(ethernet(0x0806, kIp)).ending, Ending::other);
  EXPECT_EQ(walked(ethernet(0x0800, ipv4(6, kIp))).ending, Ending::other);
  EXPECT_EQ(walked(kFrame, 127).ending, Ending::other);
  EXPECT_EQ(walked(ethernet(0x0800, wrap({0x44}, kIp))).ending, Ending::malformed);
}

TEST(Walk, Ipv4OptionsAndIpv6ExtensionsAreSteppedOver) {
  // Router alert; then hop-by-hop, routing, destination options and an atomic fragment.
  Buffer options = wrap({0x46, 0}, {});
  const Buffer body(kIp.begin() + 20, kIp.end());
  put(options, 24 + body.size(), 2);
  put(options, 0x00004000, 4);
  put(options, wrap({64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x94, 4, 0, 0}, body));
  EXPECT_EQ(walked(ethernet(0x0800, options)).ending, Ending::none);

  const Buffer extended =
      ipv6(0, wrap({43, 0, 1, 4, 0, 0, 0, 0, 60, 0, 0, 0, 0,  0, 0, 0, 44, 1, 1, 12,
                    0,  0, 0, 0, 0, 0, 0, 0, 0,  0, 0, 0, 17, 0, 0, 0, 0,  0, 0, 5},
                   body));
  const Path path = walked(ethernet(0x86dd, extended));
  EXPECT_EQ(path.ending, Ending::none);
  EXPECT_EQ(path.source.text().view(), "2001:db8::1");
}

TEST(Walk, ALaterIpv6FragmentHasNoBth) {
  const Buffer fragment = ipv6(44, wrap({17, 0, 0, 0x10, 0, 0, 0, 5}, kIp));
  EXPECT_EQ(walked(ethernet(0x86dd, fragment)).ending, Ending::fragment);
}

TEST(Walk, AGrhThatLeadsElsewhereIsNotFollowed) {
  Buffer grh = kGrh;
  grh[6] = 17;
  EXPECT_EQ(walked(ethernet(0x8915, grh)).ending, Ending::not_roce_v1);
}

}  // namespace
}  // namespace roce::net
