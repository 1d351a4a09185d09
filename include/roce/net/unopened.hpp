// SPDX-License-Identifier: BSD-3-Clause
// What a frame is when it holds no RoCE: the last thing that the walk could name.

#pragma once

#include "roce/net/layers.hpp"

namespace roce::net {

/// Walks as walk() does, but stays in front of what it cannot open: `next` names that (an
/// EtherType, an IP protocol, a UDP port), and the bytes are its own. Space::roce for a frame that
/// holds RoCE. `path` says how it came there.
inline Cursor walk_to_unopened(Bytes frame, std::size_t wire_size, u32 link_type, Path& path) {
  Cursor at = start(frame, wire_size, link_type);
  for (std::size_t steps = 0; steps < kMaxLayers; steps++) {
    const Cursor below = step_over(at, path);
    if (below.next.space == Space::end) return at;
    at = below;
    if (at.next.space == Space::roce) return at;
  }
  return at.ended(path, Ending::too_deep);
}

}  // namespace roce::net
