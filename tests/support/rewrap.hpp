// SPDX-License-Identifier: BSD-3-Clause
// Ways to wrap the frames of a whole Ethernet capture: what a mirror, an overlay or a capture
// program could have made of the same packets.

#pragma once

#include "support/wrap.hpp"

namespace roce::test {

/// A way to wrap any Ethernet frame. Frames without IP may come out as nonsense, but they do come
/// out, so that frame numbers stay.
struct Wrapping {
  const char* name;
  u16 link_type;
  Buffer (*wrap)(const Buffer& frame);
};

/// What lies behind the Ethernet header, and the type that it names.
struct Stripped {
  u32 type;
  Buffer inside;
};
inline Stripped stripped(const Buffer& frame) {
  std::size_t at = 12;
  while (frame.size() >= at + 6 && frame[at] == 0x81 && frame[at + 1] == 0) at += 4;
  if (frame.size() < at + 2) return {0, {}};
  return {u32{frame[at]} << 8 | frame[at + 1],
          {frame.begin() + static_cast<std::ptrdiff_t>(at + 2), frame.end()}};
}

inline Buffer typed(std::initializer_list<unsigned> header, const Stripped& packet) {
  Buffer out = wrap(header, {});
  put(out, packet.type, 2);
  put(out, packet.inside);
  return out;
}
/// A mirror's packet: IPv4 around `protocol`.
inline Buffer mirrored(unsigned protocol, const Buffer& inside) {
  return ethernet(0x0800, ipv4(protocol, inside));
}
inline Buffer tagged(std::initializer_list<unsigned> tags, const Buffer& frame) {
  Buffer out(frame.begin(), frame.begin() + 12);
  put(out, wrap(tags, {frame.begin() + 12, frame.end()}));
  return out;
}

inline constexpr Wrapping kWrappings[] = {
    {"VLAN", 1,
     [](const Buffer& f) {
       return tagged({0x81, 0, 0x20, 100}, f);
     }},
    {"QinQ", 1,
     [](const Buffer& f) {
       return tagged({0x88, 0xa8, 0, 7, 0x81, 0, 0x60, 100}, f);
     }},
    {"four tags", 1,
     [](const Buffer& f) {
       return tagged({0x91, 0, 0, 1, 0x92, 0, 0, 2, 0x88, 0xa8, 0, 3, 0x81, 0, 0, 4}, f);
     }},
    {"MPLS", 1,
     [](const Buffer& f) {
       return ethernet(0x8847, wrap({0, 1, 0, 64, 0, 2, 1, 64}, stripped(f).inside));
     }},
    {"MPLS pseudowire", 1,
     [](const Buffer& f) {
       return ethernet(0x8847, wrap({0, 1, 1, 64, 0, 0, 0, 0}, f));
     }},
    {"VXLAN", 1,
     [](const Buffer& f) {
       return mirrored(17, udp(4789, wrap({8, 0, 0, 0, 0, 0, 77, 0}, f)));
     }},
    {"VXLAN-GPE", 1,
     [](const Buffer& f) {
       return mirrored(17, udp(4790, wrap({0x0c, 0, 0, 3, 0, 0, 77, 0}, f)));
     }},
    {"Geneve over IPv6", 1,
     [](const Buffer& f) {
       return ethernet(0x86dd,
                       ipv6(17, udp(6081, wrap({1, 0, 0x65, 0x58, 0, 0, 77, 0, 1, 2, 3, 0}, f))));
     }},
    {"GRE", 1,
     [](const Buffer& f) {
       return mirrored(47, typed({0, 0}, stripped(f)));
     }},
    {"GRE with key", 1,
     [](const Buffer& f) {
       return mirrored(47, wrap({0x20, 0, 0x65, 0x58, 0, 0, 0, 9}, f));
     }},
    {"ERSPAN I", 1,
     [](const Buffer& f) {
       return mirrored(47, wrap({0, 0, 0x88, 0xbe}, f));
     }},
    {"ERSPAN II", 1,
     [](const Buffer& f) {
       static u32 sequence = 0;
       Buffer out = wrap({0x10, 0, 0x88, 0xbe}, {});
       put(out, sequence++, 4);
       return mirrored(47, (put(out, wrap({0x10, 5, 0, 99, 0, 0, 0, 1}, f)), out));
     }},
    {"ERSPAN III", 1,
     [](const Buffer& f) {
       static u32 sequence = 0;
       Buffer out = wrap({0x10, 0, 0x22, 0xeb}, {});
       put(out, sequence++, 4);
       return mirrored(47, (put(out, wrap({0x20, 5, 0, 99, 1, 2, 3, 4, 0, 0, 0, 4}, f)), out));
     }},
    {"IP in IP", 1,
     [](const Buffer& f) {
       const Stripped packet = stripped(f);
       return mirrored(packet.type == 0x86dd ? 41 : 4, packet.inside);
     }},
    {"GTP-U", 1,
     [](const Buffer& f) {
       const Buffer inside = stripped(f).inside;
       Buffer out = wrap({0x30, 0xff}, {});
       put(out, inside.size(), 2);
       put(out, 1, 4);
       put(out, inside);
       return mirrored(17, udp(2152, out));
     }},
    {"PPPoE", 1,
     [](const Buffer& f) {
       const Stripped packet = stripped(f);
       Buffer out = wrap({0x11, 0, 0, 1}, {});
       put(out, 2 + packet.inside.size(), 2);
       put(out, packet.type == 0x86dd ? 0x57 : 0x21, 2);
       put(out, packet.inside);
       return ethernet(0x8864, out);
     }},
    {"VLAN in VXLAN in ERSPAN", 1,
     [](const Buffer& f) {
       const Buffer vxlan =
           mirrored(17, udp(4789, wrap({8, 0, 0, 0, 0, 0, 77, 0}, tagged({0x81, 0, 0, 5}, f))));
       return mirrored(47,
                       wrap({0x10, 0, 0x88, 0xbe, 0, 0, 0, 1, 0x10, 5, 0, 99, 0, 0, 0, 1}, vxlan));
     }},
    {"Linux cooked", 113,
     [](const Buffer& f) {
       return typed({0, 4, 0, 1, 0, 6, 1, 2, 3, 4, 5, 6, 0, 0}, stripped(f));
     }},
    {"Linux cooked v2", 276,
     [](const Buffer& f) {
       const Stripped packet = stripped(f);
       Buffer out;
       put(out, packet.type, 2);
       put(out, wrap({0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 1, 2, 3, 4, 5, 6, 0, 0}, packet.inside));
       return out;
     }},
    {"raw IP", 101, [](const Buffer& f) { return stripped(f).inside; }},
    {"BSD loopback", 0,
     [](const Buffer& f) {
       const Stripped packet = stripped(f);
       return wrap({packet.type == 0x86dd ? 30u : 2u, 0, 0, 0}, packet.inside);
     }},
    {"ERF", 197,
     [](const Buffer& f) {
       Buffer out = wrap({1, 2, 3, 4, 5, 6, 7, 8, 2, 4}, {});
       put(out, 18 + f.size(), 2);
       put(out, 0, 2);
       put(out, f.size(), 2);
       put(out, wrap({0, 0}, f));
       return out;
     }},
    {"Ethernet with an FCS", 1,
     [](const Buffer& f) {
       Buffer out = f;
       put(out, 0x12345678, 4);
       return out;
     }},
};

}  // namespace roce::test
