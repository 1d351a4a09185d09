// SPDX-License-Identifier: BSD-3-Clause
// One step per tunnel header: what port mirrors and overlays wrap around a frame.

#pragma once

#include "roce/net/link_steps.hpp"

namespace roce::net::step {

/// IPv4 or IPv6 in IP: RFC 2003, RFC 2473, RFC 4213.
inline Cursor ip_in_ip(Cursor at, Path& path, u32 ether_type) {
  path.enter_tunnel();
  return at.after(0, {Space::ether_type, ether_type});
}

/// RFC 7348, 5. The I flag must be set, which tells it from what else uses the port.
inline Cursor vxlan(Cursor at, Path& path) {
  struct Header {
    u8 flags;
    std::array<u8, 3> reserved;
    be24 vni;
    u8 reserved2;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  if ((h->flags & 0x08) == 0) return at.ended(path, Ending::other);
  path.add(LayerKind::vxlan, at.offset, h->vni);
  path.enter_tunnel();
  return at.after(sizeof(Header), kEthernet);
}

/// VXLAN with a next protocol: draft-ietf-nvo3-vxlan-gpe, 3.
inline Cursor vxlan_gpe(Cursor at, Path& path) {
  struct Header {
    u8 flags;
    be16 reserved;
    u8 next;
    be24 vni;
    u8 reserved2;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::vxlan_gpe, at.offset, h->vni);
  path.enter_tunnel();
  const bool has_next = h->flags & 0x04;
  switch (has_next ? h->next : 3) {
    case 1: return at.after(sizeof(Header), {Space::ether_type, 0x0800});
    case 2: return at.after(sizeof(Header), {Space::ether_type, 0x86dd});
    case 3: return at.after(sizeof(Header), kEthernet);
    case 5: return at.after(sizeof(Header), {Space::ether_type, 0x8847});
    default: return at.ended(path, Ending::other);
  }
}

/// RFC 8926, 3.
inline Cursor geneve(Cursor at, Path& path) {
  struct Header {
    u8 version_size;  // Ver:2 Opt Len:6, in units of 4 bytes
    u8 flags;
    be16 protocol;
    be24 vni;
    u8 reserved;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  if (h->version_size >> 6 != 0) return at.ended(path, Ending::other);
  path.add(LayerKind::geneve, at.offset, h->vni);
  path.enter_tunnel();
  const std::size_t options = std::size_t{4} * (h->version_size & 0x3fu);
  return at.after(sizeof(Header) + options, {Space::ether_type, h->protocol});
}

/// RFC 2784, with the key and sequence number of RFC 2890. NVGRE (RFC 7637) is its key and
/// protocol 0x6558.
inline Cursor gre(Cursor at, Path& path) {
  struct Header {
    be16 flags, protocol;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  const u32 flags = h->flags;
  // RFC 1701's source routes and version 1 (PPTP) are other formats.
  if (flags & 0x4007) return at.ended(path, Ending::other);
  Cursor rest = at.after(sizeof(Header), {Space::ether_type, h->protocol});
  if (flags & 0x8000) rest = rest.after(4, rest.next);  // checksum
  be32 key{}, sequence{};
  for (const auto& [flag, field] : {std::pair{0x2000u, &key}, std::pair{0x1000u, &sequence}}) {
    if ((flags & flag) == 0) continue;
    const auto value = read<be32>(rest.bytes);
    if (!value) return at.ended(path, Ending::truncated);
    *field = *value;
    rest = rest.after(sizeof(be32), rest.next);
  }
  path.add(LayerKind::gre, at.offset, key);
  path.enter_tunnel();
  path.mirror = {};
  if (flags & 0x1000) path.mirror = {.has_sequence = true, .sequence = sequence};
  // ERSPAN type I is no more than this protocol number; type II always has a sequence number.
  if (h->protocol == 0x88be && (flags & 0x1000) == 0) {
    path.add(LayerKind::erspan, rest.offset);
    path.mirror.erspan_type = 1;
    return rest.after(0, kEthernet);
  }
  return rest;
}

/// ERSPAN type II: draft-foschiano-erspan, 4.2.
inline Cursor erspan_2(Cursor at, Path& path) {
  struct Header {
    be16 version_vlan;  // Ver:4 VLAN:12
    be16 session;       // COS:3 En:2 T:1 Session ID:10
    be32 port;          // reserved:12 Index:20
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.mirror.erspan_type = 2;
  path.mirror.session = h->session & 0x3ff;
  path.add(LayerKind::erspan, at.offset, path.mirror.session);
  return at.after(sizeof(Header), kEthernet);
}

/// ERSPAN type III: draft-foschiano-erspan, 4.3.
inline Cursor erspan_3(Cursor at, Path& path) {
  struct Header {
    be16 version_vlan;  // Ver:4 VLAN:12
    be16 session;       // COS:3 BSO:2 T:1 Session ID:10
    be32 timestamp;
    be16 group;
    be16 flags;  // P:1 FT:5 Hw ID:6 D:1 Gra:2 O:1
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.mirror.erspan_type = 3;
  path.mirror.session = h->session & 0x3ff;
  path.mirror.timestamp = h->timestamp;
  path.mirror.granularity = static_cast<Granularity>(h->flags >> 1 & 3);
  path.add(LayerKind::erspan, at.offset, path.mirror.session);
  const std::size_t platform = h->flags & 1 ? 8 : 0;
  const Cursor body = at.after(sizeof(Header) + platform, kEthernet);
  constexpr u32 kIpFrame = 2;
  return (h->flags >> 10 & 0x1f) == kIpFrame ? body.after(0, {Space::link_type, 101}) : body;
}

/// GTP-U, 3GPP TS 29.281, 5.1: a user's IP packet, from a radio network.
inline Cursor gtp_u(Cursor at, Path& path) {
  struct Header {
    u8 flags;  // version:3 PT:1 reserved:1 E:1 S:1 PN:1
    u8 type;
    be16 size;
    be32 tunnel;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  constexpr u8 kUserData = 0xff;
  if (h->flags >> 4 != 3 || h->type != kUserData) return at.ended(path, Ending::other);
  path.add(LayerKind::gtp_u, at.offset, h->tunnel);
  path.enter_tunnel();
  Cursor rest = at.after(sizeof(Header), {Space::link_type, 101});
  if ((h->flags & 7) == 0) return rest;
  if (rest.bytes.size() < 4) return at.ended(path, Ending::truncated);
  u8 extension = h->flags & 4 ? rest.bytes[3] : 0;
  rest = rest.after(4, rest.next);
  while (extension != 0) {  // each is at least 4 bytes long, so this ends
    const std::size_t size = rest.bytes.empty() ? 0 : std::size_t{4} * rest.bytes[0];
    if (size == 0 || rest.bytes.size() < size) return at.ended(path, Ending::truncated);
    extension = rest.bytes[size - 1];
    rest = rest.after(size, rest.next);
  }
  return rest;
}

/// ESP, RFC 4303: named, not opened.
inline Cursor ipsec(Cursor at, Path& path) {
  path.add(LayerKind::ipsec, at.offset);
  return at.ended(path, Ending::encrypted);
}

}  // namespace roce::net::step
