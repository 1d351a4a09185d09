// SPDX-License-Identifier: BSD-3-Clause
// One packet in every encapsulation and link type that the walk knows.

#pragma once

#include "support/wrap.hpp"

namespace roce::test {

inline const Packet kPacket = {
    .opcode = 0x0a, .psn = 0x123456, .payload_size = 50, .dma_length = 50};
inline const Buffer kFrame = kPacket.frame();
inline const Buffer kIp = kPacket.network();
inline const Buffer kIp6 = Packet{.opcode = 0x0a,
                                  .psn = 0x123456,
                                  .payload_size = 50,
                                  .source = "fe80::1",
                                  .destination = "fe80::2"}
                               .network();
inline const Buffer kGrh =
    Packet{.opcode = 0x0a, .psn = 0x123456, .payload_size = 50, .version = 1}.network();

inline Buffer vlan(u32 tci, u32 type, const Buffer& inside) {
  Buffer out;
  put(out, tci, 2);
  put(out, type, 2);
  put(out, inside);
  return out;
}
inline Buffer vxlan(const Buffer& inside) {
  return ethernet(0x0800, ipv4(17, udp(4789, wrap({8, 0, 0, 0, 0, 0, 77, 0}, inside))));
}
inline Buffer gre(std::initializer_list<unsigned> header, const Buffer& inside) {
  return ethernet(0x0800, ipv4(47, wrap(header, inside)));
}
inline Buffer pppoe(u32 protocol, const Buffer& inside) {
  Buffer out = wrap({0x11, 0, 0, 1}, {});
  put(out, 2 + inside.size(), 2);
  put(out, protocol, 2);
  put(out, inside);
  return ethernet(0x8864, out);
}
inline Buffer gtp_u(unsigned flags, std::initializer_list<unsigned> more, const Buffer& inside) {
  const Buffer body = wrap(more, inside);
  Buffer out = wrap({flags, 0xff}, {});
  put(out, body.size(), 2);
  put(out, 1, 4);
  put(out, body);
  return ethernet(0x0800, ipv4(17, udp(2152, out)));
}
inline Buffer erf(unsigned type, std::initializer_list<unsigned> more, const Buffer& inside) {
  const Buffer body = wrap(more, inside);
  Buffer out = wrap({1, 2, 3, 4, 5, 6, 7, 8, type, 4}, {});
  put(out, 16 + body.size(), 2);
  put(out, 0, 2);
  put(out, body.size(), 2);
  put(out, body);
  return out;
}
/// A native packet: LRH, then a GRH or the BTH, then a VCRC.
inline Buffer infiniband(bool global) {
  const Buffer transport = kPacket.transport();
  const Buffer body = global ? kGrh : transport;
  Buffer out = wrap({0x20, global ? 3u : 2u, 0, 9}, {});
  put(out, (8 + body.size()) / 4, 2);
  put(out, 7, 2);
  put(out, body);
  put(out, 0xdead, 2);
  return out;
}

/// A frame that holds kPacket, wrapped in some way.
struct Encapsulation {
  const char* name;
  u16 link_type;
  Buffer frame;
};

inline std::vector<Encapsulation> encapsulations() {
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
      {"LLC and SNAP behind a VLAN tag", 1,
       ethernet(0x8100, vlan(5, static_cast<u32>(8 + kIp.size()),
                             wrap({0xaa, 0xaa, 3, 0, 0, 0, 8, 0}, kIp)))},
      {"PPPoE, IPv4", 1, pppoe(0x21, kIp)},
      {"PPPoE, IPv6", 1, pppoe(0x57, kIp6)},
      {"PPPoE, protocol in one byte", 1, ethernet(0x8864, wrap({0x11, 0, 0, 1, 0, 95, 0x21}, kIp))},
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
      {"GTP-U", 1, gtp_u(0x30, {}, kIp)},
      {"GTP-U, extensions", 1, gtp_u(0x34, {0, 0, 0, 0x85, 1, 9, 9, 0}, kIp)},
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

}  // namespace roce::test
