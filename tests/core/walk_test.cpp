// SPDX-License-Identifier: BSD-3-Clause
// The walk through every encapsulation and link type, and what the path remembers of it.

#include <gtest/gtest.h>

#include "roce/icrc.hpp"
#include "roce/net/observe.hpp"
#include "support/wrap.hpp"

namespace roce::net {
namespace {

using test::Buffer;
using test::ethernet;
using test::ipv4;
using test::ipv6;
using test::Packet;
using test::put;
using test::udp;
using test::wrap;

const Packet kPacket = {.opcode = 0x0a, .psn = 0x123456, .payload_size = 50, .dma_length = 50};
const Buffer kFrame = kPacket.frame();
const Buffer kIp = kPacket.network();
const Buffer kIp6 = Packet{.opcode = 0x0a,
                           .psn = 0x123456,
                           .payload_size = 50,
                           .source = "fe80::1",
                           .destination = "fe80::2"}
                        .network();
const Buffer kGrh =
    Packet{.opcode = 0x0a, .psn = 0x123456, .payload_size = 50, .version = 1}.network();

Buffer vlan(u32 tci, u32 type, const Buffer& inside) {
  Buffer out;
  put(out, tci, 2);
  put(out, type, 2);
  put(out, inside);
  return out;
}
Buffer vxlan(const Buffer& inside) {
  return ethernet(0x0800, ipv4(17, udp(4789, wrap({8, 0, 0, 0, 0, 0, 77, 0}, inside))));
}
Buffer gre(std::initializer_list<unsigned> header, const Buffer& inside) {
  return ethernet(0x0800, ipv4(47, wrap(header, inside)));
}
Buffer erf(unsigned type, std::initializer_list<unsigned> more, const Buffer& inside) {
  const Buffer body = wrap(more, inside);
  Buffer out = wrap({1, 2, 3, 4, 5, 6, 7, 8, type, 4}, {});
  put(out, 16 + body.size(), 2);
  put(out, 0, 2);
  put(out, body.size(), 2);
  put(out, body);
  return out;
}
/// A native packet: LRH, then a GRH or the BTH, then a VCRC.
Buffer infiniband(bool global) {
  const Buffer transport = kPacket.transport();
  const Buffer body = global ? kGrh : transport;
  Buffer out = wrap({0x20, global ? 3u : 2u, 0, 9}, {});
  put(out, (8 + body.size()) / 4, 2);
  put(out, 7, 2);
  put(out, body);
  put(out, 0xdead, 2);
  return out;
}

struct Case {
  const char* name;
  u16 link_type;
  Buffer frame;
};

std::vector<Case> cases() {
  return {
      {"Ethernet", 1, kFrame},
      {"v1", 1, ethernet(0x8915, kGrh)},
      {"five VLAN tags", 1,
       ethernet(0x88a8,
                vlan(1, 0x9100,
                     vlan(2, 0x9200, vlan(3, 0x8100, vlan(4, 0x8100, vlan(5, 0x0800, kIp))))))},
      {"VN-Tag", 1, ethernet(0x8926, wrap({0, 1, 2, 3, 8, 0}, kIp))},
      {"E-Tag", 1, ethernet(0x893f, wrap({0, 1, 2, 3, 4, 5, 8, 0}, kIp))},
      {"Cisco metadata", 1, ethernet(0x8909, wrap({1, 1, 0, 1, 0, 9, 8, 0}, kIp))},
      {"LLC and SNAP", 1,
       ethernet(static_cast<u32>(8 + kIp.size()), wrap({0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, kIp))},
      {"LLC", 1, ethernet(static_cast<u32>(3 + kIp.size()), wrap({6, 6, 3}, kIp))},
      {"PPPoE, IPv4", 1, ethernet(0x8864, wrap({0x11, 0, 0, 1, 0, 99, 0, 0x21}, kIp))},
      {"PPPoE, IPv6", 1, ethernet(0x8864, wrap({0x11, 0, 0, 1, 0, 99, 0, 0x57}, kIp6))},
      {"MPLS, IPv4", 1, ethernet(0x8847, wrap({0, 1, 0, 64, 0, 2, 1, 64}, kIp))},
      {"MPLS, IPv6", 1, ethernet(0x8848, wrap({0, 1, 1, 64}, kIp6))},
      {"MPLS, control word", 1, ethernet(0x8847, wrap({0, 1, 1, 64, 0, 0, 0, 0}, kFrame))},
      {"MPLS, bare Ethernet", 1, ethernet(0x8847, wrap({0, 1, 1, 64}, kFrame))},
      {"MPLS in UDP", 1, ethernet(0x0800, ipv4(17, udp(6635, wrap({0, 1, 1, 64}, kIp))))},
      {"MPLS in IP", 1, ethernet(0x0800, ipv4(137, wrap({0, 1, 1, 64}, kIp)))},
      {"IP in IP", 1, ethernet(0x0800, ipv4(4, kIp))},
      {"6in4", 1, ethernet(0x0800, ipv4(41, kIp6))},
      {"4in6", 1, ethernet(0x86dd, ipv6(4, kIp))},
      {"authentication header", 1,
       ethernet(0x86dd, ipv6(51, wrap({4, 4, 0, 0, 0, 0, 0, 1, 0, 0,  0,  1,
                                       1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
                                      kIp)))},
      {"VXLAN", 1, vxlan(kFrame)},
      {"VXLAN in VXLAN", 1, vxlan(vxlan(kFrame))},
      {"VXLAN on Linux's old port", 1,
       ethernet(0x86dd, ipv6(17, udp(8472, wrap({8, 0, 0, 0, 0, 0, 77, 0}, kFrame))))},
      {"VXLAN-GPE, Ethernet", 1,
       ethernet(0x0800, ipv4(17, udp(4790, wrap({0x0c, 0, 0, 3, 0, 0, 77, 0}, kFrame))))},
      {"VXLAN-GPE, IPv6", 1,
       ethernet(0x0800, ipv4(17, udp(4790, wrap({0x0c, 0, 0, 2, 0, 0, 77, 0}, kIp6))))},
      {"Geneve, Ethernet", 1,
       ethernet(0x0800,
                ipv4(17, udp(6081, wrap({2, 0, 0x65, 0x58, 0, 0, 77, 0, 1, 2, 3, 4, 5, 6, 7, 8},
                                        kFrame))))},
      {"Geneve, IPv4", 1,
       ethernet(0x0800, ipv4(17, udp(6081, wrap({0, 0, 8, 0, 0, 0, 77, 0}, kIp))))},
      {"GRE, IPv4", 1, gre({0, 0, 8, 0}, kIp)},
      {"GRE, checksum, key and sequence", 1,
       gre({0xb0, 0, 0x86, 0xdd, 1, 2, 0, 0, 0, 0, 0, 9, 0, 0, 0, 8}, kIp6)},
      {"NVGRE", 1, gre({0x20, 0, 0x65, 0x58, 0, 0, 77, 1}, kFrame)},
      {"MPLS in GRE", 1, gre({0, 0, 0x88, 0x47, 0, 1, 1, 64}, kIp)},
      {"ERSPAN I", 1, gre({0, 0, 0x88, 0xbe}, kFrame)},
      {"ERSPAN II", 1, gre({0x10, 0, 0x88, 0xbe, 0, 0, 0, 42, 0x10, 5, 0, 99, 0, 0, 0, 1}, kFrame)},
      {"ERSPAN III", 1,
       gre({0x10, 0, 0x22, 0xeb, 0, 0, 0, 42, 0x20, 5, 0, 99, 1, 2, 3, 4, 0, 0, 0, 4}, kFrame)},
      {"ERSPAN III, platform header", 1,
       gre({0x10, 0, 0x22, 0xeb, 0, 0, 0,   42, 0x20, 5, 0, 99, 1, 2,
            3,    4, 0,    0,    0, 1, 0xc, 0,  0,    0, 0, 0,  0, 0},
           kFrame)},
      {"ERSPAN III, IP", 1,
       gre({0x10, 0, 0x22, 0xeb, 0, 0, 0, 42, 0x20, 5, 0, 99, 1, 2, 3, 4, 0, 0, 8, 0}, kIp)},
      {"GTP-U", 1,
       ethernet(0x0800, ipv4(17, udp(2152, wrap({0x30, 0xff, 0, 99, 0, 0, 0, 1}, kIp))))},
      {"GTP-U, extensions", 1,
       ethernet(0x0800,
                ipv4(17, udp(2152, wrap({0x34, 0xff, 0, 99, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 9, 9, 0},
                                        kIp))))},
      {"NULL, this machine's order", 0, wrap({2, 0, 0, 0}, kIp)},
      {"NULL, the other order", 0, wrap({0, 0, 0, 30}, kIp6)},
      {"LOOP", 108, wrap({0, 0, 0, 2}, kIp)},
      {"raw IP, v4", 101, kIp},
      {"raw IP, v6", 101, kIp6},
      {"DLT_RAW", 12, kIp},
      {"DLT_RAW of OpenBSD", 14, kIp},
      {"IPv4", 228, kIp},
      {"IPv6", 229, kIp6},
      {"cooked", 113, wrap({0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 8, 0}, kIp)},
      {"cooked, VLAN tag", 113,
       wrap({0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0x81, 0, 0, 5, 8, 0}, kIp)},
      {"cooked, LLC", 113,
       wrap({0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0, 0, 4, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, kIp)},
      {"cooked v2", 276,
       wrap({0x86, 0xdd, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0}, kIp6)},
      {"ERF, Ethernet", 197, erf(2, {0, 0}, kFrame)},
      {"ERF, its padding forgotten", 197, erf(2, {}, kFrame)},
      {"ERF, extension headers", 197,
       erf(0x82, {0x83, 1, 2, 3, 4, 5, 6, 7, 0x03, 1, 2, 3, 4, 5, 6, 7, 0, 0}, kFrame)},
      {"ERF, InfiniBand", 197, erf(21, {}, infiniband(false))},
      {"ERF, IPv4", 197, erf(22, {}, kIp)},
      {"ERF, IPv6", 197, erf(23, {}, kIp6)},
      {"InfiniBand, local", 247, infiniband(false)},
      {"InfiniBand, global", 247, infiniband(true)},
  };
}

TEST(Walk, EveryEncapsulationLeadsToThePacket) {
  for (const Case& c : cases()) {
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
  for (const Case& c : cases()) {
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
  for (const Case& c : cases()) {
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
