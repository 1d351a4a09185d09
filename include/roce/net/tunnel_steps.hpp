// SPDX-License-Identifier: BSD-3-Clause
// One step per tunnel header: what port mirrors and overlays wrap around a frame.

#pragma once

#include "roce/net/link_steps.hpp"

namespace roce::net::step {

/// RFC 7348, 5.
inline Cursor vxlan(Cursor at, Path& path) {
  struct Header {
    u8 flags;
    std::array<u8, 3> reserved;
    be24 vni;
    u8 reserved2;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::vxlan, at.offset, h->vni);
  path.enter_tunnel();
  return at.after(sizeof(Header), {Space::link_type, kLinkEthernet});
}

/// RFC 2784, with the key and sequence number of RFC 2890.
inline Cursor gre(Cursor at, Path& path) {
  struct Header {
    be16 flags, protocol;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  const u16 flags = h->flags;
  // RFC 1701's source routes and version 1 (PPTP) are other formats.
  if (flags & 0x4007) return at.ended(path, Ending::other);
  std::size_t size = sizeof(Header);
  if (flags & 0x8000) size += 4;
  u32 key = 0;
  if (flags & 0x2000) {
    const auto k = read<be32>(at.after(size, {}).bytes);
    if (!k) return at.ended(path, Ending::truncated);
    key = *k;
    size += 4;
  }
  if (flags & 0x1000) size += 4;
  path.add(LayerKind::gre, at.offset, key);
  path.enter_tunnel();
  const Cursor inner = at.after(size, {Space::ether_type, h->protocol});
  if (h->protocol == 0x6558) return inner.after(0, {Space::link_type, kLinkEthernet});
  return inner;
}

}  // namespace roce::net::step
