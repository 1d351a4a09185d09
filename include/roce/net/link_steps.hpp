// SPDX-License-Identifier: BSD-3-Clause
// One step per link layer: how a frame starts, by its capture's link type.

#pragma once

#include "roce/net/path.hpp"

namespace roce::net::step {

inline constexpr u32 kLinkEthernet = 1;

inline Cursor ethernet(Cursor at, Path& path) {
  struct Header {
    std::array<u8, 6> destination, source;
    be16 type;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::ethernet, at.offset);
  path.has_macs = true;
  path.destination_mac = h->destination;
  path.source_mac = h->source;
  return at.after(sizeof(Header), {Space::ether_type, h->type});
}

inline Cursor vlan(Cursor at, Path& path) {
  struct Header {
    be16 tci, type;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::vlan, at.offset, h->tci & 0x0fffu);
  path.has_vlan = true;
  path.vlan = h->tci;
  return at.after(sizeof(Header), {Space::ether_type, h->type});
}

/// LINKTYPE_LINUX_SLL.
inline Cursor linux_cooked(Cursor at, Path& path) {
  struct Header {
    be16 packet_type, hardware_type, address_size;
    std::array<u8, 8> address;
    be16 protocol;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::linux_cooked, at.offset);
  return at.after(sizeof(Header), {Space::ether_type, h->protocol});
}

/// LINKTYPE_LINUX_SLL2.
inline Cursor linux_cooked_2(Cursor at, Path& path) {
  struct Header {
    be16 protocol, reserved;
    be32 interface;
    be16 hardware_type;
    u8 packet_type, address_size;
    std::array<u8, 8> address;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::linux_cooked, at.offset, h->interface);
  return at.after(sizeof(Header), {Space::ether_type, h->protocol});
}

/// LINKTYPE_RAW: the first nibble tells the version.
inline Cursor raw_ip(Cursor at, Path& path) {
  if (at.bytes.empty()) return at.ended(path, Ending::truncated);
  const u32 version = at.bytes[0] >> 4u;
  if (version == 4) return at.after(0, {Space::ether_type, 0x0800});
  if (version == 6) return at.after(0, {Space::ether_type, 0x86dd});
  return at.ended(path, Ending::other);
}

/// LINKTYPE_NULL and LINKTYPE_LOOP: an address family, in the byte order of the machine that
/// captured (NULL), or in network order (LOOP). The values are small, so either order is told
/// from the other; BSDs disagree on AF_INET6.
inline Cursor null_loopback(Cursor at, Path& path) {
  const auto h = read<be32>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::null_loopback, at.offset);
  const u32 value = *h;
  const u32 family = value > 0xffff ? value >> 24 | (value >> 8 & 0xff00) : value;
  switch (family) {
    case 2: return at.after(4, {Space::ether_type, 0x0800});
    case 10:  // Linux
    case 24:  // NetBSD, OpenBSD
    case 28:  // FreeBSD
    case 30:  // macOS
      return at.after(4, {Space::ether_type, 0x86dd});
    default: return at.ended(path, Ending::other);
  }
}

}  // namespace roce::net::step
