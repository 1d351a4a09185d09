// SPDX-License-Identifier: BSD-3-Clause
// Walks a captured frame down to its RoCE packet.
//
// The switch in step_over() is the whole map of encapsulations. To support another one, add its
// step function and its case; nothing else changes.

#pragma once

#include "roce/net/capture_steps.hpp"
#include "roce/net/ip_steps.hpp"
#include "roce/net/link_steps.hpp"
#include "roce/net/tunnel_steps.hpp"

namespace roce::net {

constexpr u64 key(Space space, u32 number) {
  return u64{static_cast<u8>(space)} << 32 | number;
}

/// The map of encapsulations: steps over the header that `at.next` names.
inline Cursor step_over(Cursor at, Path& path) {
  switch (key(at.next.space, at.next.number)) {
    case key(Space::link_type, 1): return step::ethernet(at, path);
    case key(Space::link_type, 0):    // NULL
    case key(Space::link_type, 108):  // LOOP
      return step::null_loopback(at, path);
    case key(Space::link_type, 12):  // DLT_RAW, written as it is by some
    case key(Space::link_type, 14):
    case key(Space::link_type, 101): return step::raw_ip(at, path);
    case key(Space::link_type, 113): return step::linux_cooked(at, path);
    case key(Space::link_type, 276): return step::linux_cooked_2(at, path);
    case key(Space::link_type, 197): return step::erf(at, path);
    case key(Space::link_type, 228): return step::ipv4(at, path);
    case key(Space::link_type, 229): return step::ipv6(at, path);
    case key(Space::link_type, 247): return step::infiniband(at, path);

    case key(Space::ether_type, 0x0800): return step::ipv4(at, path);
    case key(Space::ether_type, 0x86dd): return step::ipv6(at, path);
    case key(Space::ether_type, 0x8100):  // 802.1Q
    case key(Space::ether_type, 0x88a8):  // 802.1ad
    case key(Space::ether_type, 0x9100):  // QinQ before the standard
    case key(Space::ether_type, 0x9200): return step::vlan(at, path);
    case key(Space::ether_type, 0x8909):  // Cisco metadata
    case key(Space::ether_type, 0x893f):  // 802.1BR E-Tag
    case key(Space::ether_type, 0x88b5):  // Cisco TTAG: a 48-bit time, unless configured otherwise
      return step::switch_tag(at, path, 6);
    case key(Space::ether_type, 0x8926): return step::switch_tag(at, path, 4);  // VN-Tag
    case key(Space::llc, 0): return step::llc(at, path);
    case key(Space::ether_type, 0x8847):  // MPLS
    case key(Space::ether_type, 0x8848):  // its multicast
      return step::mpls(at, path);
    case key(Space::ether_type, 0x8864): return step::pppoe(at, path);
    case key(Space::ether_type, 0x88e5): return step::macsec(at, path);
    case key(Space::ether_type, 0x8915): return at.after(0, {Space::grh, 1});
    case key(Space::grh, 0):
    case key(Space::grh, 1): return step::grh(at, path);

    case key(Space::ip_protocol, 0):   // hop-by-hop options
    case key(Space::ip_protocol, 43):  // routing
    case key(Space::ip_protocol, 60):  // destination options
      return step::ipv6_options(at, path);
    case key(Space::ip_protocol, 44): return step::ipv6_fragment(at, path);
    case key(Space::ip_protocol, 51): return step::authentication(at, path);
    case key(Space::ip_protocol, 17): return step::udp(at, path);
    case key(Space::ip_protocol, 4): return step::ip_in_ip(at, path, 0x0800);
    case key(Space::ip_protocol, 41): return step::ip_in_ip(at, path, 0x86dd);
    case key(Space::ip_protocol, 47): return step::gre(at, path);
    case key(Space::ip_protocol, 50): return step::ipsec(at, path);
    case key(Space::ip_protocol, 137): return step::mpls(at, path);

    // What GRE and Geneve carry, by EtherType.
    case key(Space::ether_type, 0x6558): return at.after(0, step::kEthernet);
    case key(Space::ether_type, 0x88be): return step::erspan_2(at, path);
    case key(Space::ether_type, 0x22eb): return step::erspan_3(at, path);

    case key(Space::udp_port, 4791): return step::roce_v2(at, path);
    case key(Space::udp_port, 4789):
    case key(Space::udp_port, 8472):  // what Linux used before there was a number
      return step::vxlan(at, path);
    case key(Space::udp_port, 4790): return step::vxlan_gpe(at, path);
    case key(Space::udp_port, 6081): return step::geneve(at, path);
    case key(Space::udp_port, 2152): return step::gtp_u(at, path);
    case key(Space::udp_port, 6635): return step::mpls(at, path);   // RFC 7510
    case key(Space::udp_port, 4500): return step::ipsec(at, path);  // RFC 3948
    default: return at.ended(path, Ending::other);
  }
}

/// The beginning of a frame.
inline Cursor start(Bytes frame, std::size_t wire_size, u32 link_type) {
  return {{Space::link_type, link_type}, frame, wire_size, 0};
}

/// Steps on until what follows is `until`, a BTH, or the end, but at least once.
inline Cursor walk_until(Next until, Cursor at, Path& path) {
  for (std::size_t steps = 0; steps < kMaxLayers; steps++) {
    at = step_over(at, path);
    if (at.next.space == Space::roce || at.next.space == Space::end || at.next == until) return at;
  }
  return at.ended(path, Ending::too_deep);
}

/// Steps from the link layer to the BTH. `next.space` is `end` if there is none, and `path.ending`
/// says why; otherwise it is `roce`, and the bytes, perhaps none, start at the BTH.
inline Cursor walk(Bytes frame, std::size_t wire_size, u32 link_type, Path& path) {
  return walk_until({Space::roce}, start(frame, wire_size, link_type), path);
}

}  // namespace roce::net
