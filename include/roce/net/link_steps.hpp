// SPDX-License-Identifier: BSD-3-Clause
// One step per header between a frame's start and its network header.

#pragma once

#include "roce/net/path.hpp"

namespace roce::net::step {

inline constexpr Next kEthernet = {Space::link_type, 1};

/// Behind a header of `size` bytes that ends with an EtherType. IEEE 802.3, 3.2.6: values up to
/// 1500 are the length of an LLC frame, behind a tag as well.
inline Cursor after_ether_type(Cursor at, std::size_t size, u16 type) {
  if (type <= 1500) return at.after(size, {Space::llc, 0}).limited_to(type);
  return at.after(size, {Space::ether_type, type});
}

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
  return after_ether_type(at, sizeof(Header), h->type);
}

/// Whether an EtherType is one of those that lead towards RoCE, or that any mirror is full of.
constexpr bool is_common_ether_type(u32 type) {
  switch (type) {
    case 0x0800:
    case 0x0806:
    case 0x8100:
    case 0x86dd:
    case 0x8808:
    case 0x8847:
    case 0x88a8:
    case 0x88cc:
    case 0x8915: return true;
    default: return false;
  }
}

/// An Ethernet frame that should lie behind `padding` bytes, but which some writers put at once:
/// there where the EtherType makes sense.
inline Cursor ethernet_perhaps_after(std::size_t padding, Cursor at) {
  constexpr std::size_t kTypeAt = 12;
  const auto makes_sense = [&](std::size_t start) {
    const auto type = read<be16>(at.after(start + kTypeAt, {}).bytes);
    return type && is_common_ether_type(*type);
  };
  return at.after(makes_sense(0) && !makes_sense(padding) ? 0 : padding, kEthernet);
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
  return after_ether_type(at, sizeof(Header), h->type);
}

/// A tag of `size` bytes with an EtherType after it: VN-Tag, E-Tag, Cisco metadata.
inline Cursor switch_tag(Cursor at, Path& path, std::size_t size) {
  const auto type = read<be16>(at.after(size, {}).bytes);
  if (!type) return at.ended(path, Ending::truncated);
  path.add(LayerKind::switch_tag, at.offset);
  return after_ether_type(at, size + sizeof(be16), *type);
}

/// IEEE 802.2 with SNAP: RFC 1042.
inline Cursor llc(Cursor at, Path& path) {
  struct Header {
    be24 saps_and_control;
    be24 organisation;
    be16 type;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::llc, at.offset);
  if (h->saps_and_control == 0x060603) return at.after(3, {Space::ether_type, 0x0800});
  if (h->saps_and_control != 0xaaaa03) return at.ended(path, Ending::other);
  if (h->organisation == 0) return at.after(sizeof(Header), {Space::ether_type, h->type});
  return at.ended(path, Ending::other);
}

/// A PPPoE session, RFC 2516, 4, and the PPP protocol field in it.
inline Cursor pppoe(Cursor at, Path& path) {
  struct Header {
    u8 version_type, code;
    be16 session, size;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  if (h->version_type != 0x11 || h->code != 0) return at.ended(path, Ending::other);
  path.add(LayerKind::pppoe, at.offset, h->session);
  const Cursor ppp = at.after(sizeof(Header), {});
  const auto protocol = read<be16>(ppp.bytes);
  if (!protocol) return at.ended(path, Ending::truncated);
  // RFC 1661, 2 and 6.5: the last byte is the first odd one; a zero before it may be left out.
  const bool is_short = (ppp.bytes[0] & 1) != 0;
  const std::size_t size = is_short ? 1 : sizeof(be16);
  switch (is_short ? u32{ppp.bytes[0]} : u32{*protocol}) {
    case 0x0021: return ppp.after(size, {Space::ether_type, 0x0800});
    case 0x0057: return ppp.after(size, {Space::ether_type, 0x86dd});
    case 0x0281: return ppp.after(size, {Space::ether_type, 0x8847});
    default: return at.ended(path, Ending::other);
  }
}

/// One label of an MPLS stack, RFC 3032. Nothing names what lies below the last one: IP shows by
/// its version, the rest is Ethernet; a zero nibble may be a control word (RFC 4385) before it.
inline Cursor mpls(Cursor at, Path& path) {
  const auto h = read<be32>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::mpls, at.offset, *h >> 12);
  const Cursor below = at.after(sizeof(be32), {Space::ether_type, 0x8847});
  if ((*h & 0x100) == 0) return below;
  if (below.bytes.empty()) return at.ended(path, Ending::truncated);
  switch (below.bytes[0] >> 4) {
    case 4: return below.after(0, {Space::ether_type, 0x0800});
    case 6: return below.after(0, {Space::ether_type, 0x86dd});
    case 0: path.enter_tunnel(); return ethernet_perhaps_after(4, below);
    default: path.enter_tunnel(); return below.after(0, kEthernet);
  }
}

/// IEEE 802.1AE: named, not opened.
inline Cursor macsec(Cursor at, Path& path) {
  path.add(LayerKind::macsec, at.offset);
  return at.ended(path, Ending::encrypted);
}

}  // namespace roce::net::step
