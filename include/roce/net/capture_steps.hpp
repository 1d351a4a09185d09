// SPDX-License-Identifier: BSD-3-Clause
// One step per link type that is not what lay on the wire, but what a capturing machine made of it.

#pragma once

#include "roce/net/link_steps.hpp"

namespace roce::net::step {

/// What an EtherType field of Linux cooked headers says; values up to 1500 are Linux's own.
inline Next linux_protocol(u16 protocol) {
  return protocol == 4 ? Next{Space::llc, 0} : Next{Space::ether_type, protocol};
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
  return at.after(sizeof(Header), linux_protocol(h->protocol));
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
  return at.after(sizeof(Header), linux_protocol(h->protocol));
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

/// LINKTYPE_ERF, Endace's Extensible Record Format: a record header, perhaps extension headers,
/// and for Ethernet types two bytes of padding, which some writers leave out.
inline Cursor erf(Cursor at, Path& path) {
  struct Header {
    be64 time;  // least significant byte first
    u8 type;    // more:1 type:7
    u8 flags;
    be16 record_size, loss, wire_size;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::erf, at.offset, h->type & 0x7fu);
  Cursor body = at.after(sizeof(Header), {});
  for (u8 more = h->type; more & 0x80;) {
    if (body.bytes.size() < 8) return at.ended(path, Ending::truncated);
    more = body.bytes[0];
    body = body.after(8, {});
  }
  switch (h->type & 0x7f) {
    case 2:   // ETH
    case 11:  // COLOR_ETH
    case 16:  // DSM_COLOR_ETH
    case 20:  // COLOR_HASH_ETH
      return ethernet_perhaps_after(2, body);
    case 21: return body.after(0, {Space::link_type, 247});  // INFINIBAND
    case 22: return body.after(0, {Space::ether_type, 0x0800});
    case 23: return body.after(0, {Space::ether_type, 0x86dd});
    default: return at.ended(path, Ending::other);
  }
}

/// LINKTYPE_INFINIBAND: a native packet, from its Local Route Header on (IBTA 7.7).
inline Cursor infiniband(Cursor at, Path& path) {
  struct Header {
    u8 lane_version;  // VL:4 LVer:4
    u8 level_next;    // SL:4 reserved:2 LNH:2
    be16 destination;
    be16 size;  // reserved:5 PktLen:11, in units of 4 bytes, from the LRH through the ICRC
    be16 source;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::lrh, at.offset);
  path.network_offset = at.offset;
  path.source = Address::lid(h->source);
  path.destination = Address::lid(h->destination);
  path.tos = path.ttl = 0;
  const std::size_t size = std::size_t{4} * (h->size & 0x7ffu);
  if (size < sizeof(Header)) return at.ended(path, Ending::malformed);
  const Cursor body = at.limited_to(size).after(sizeof(Header), {Space::roce, 0});
  switch (h->level_next & 3) {
    case 2: return body;  // a BTH
    case 3: return body.after(0, {Space::grh, 0});
    default: return at.ended(path, Ending::other);  // raw IPv6 or EtherType
  }
}

}  // namespace roce::net::step
