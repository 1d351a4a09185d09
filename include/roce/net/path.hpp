// SPDX-License-Identifier: BSD-3-Clause
// What the walk through a frame's layers carries along: where it stands, and what it met.

#pragma once

#include <algorithm>

#include "roce/net/address.hpp"
#include "roce/wire/bytes.hpp"

namespace roce::net {

/// Number spaces in which a header names what follows it.
enum class Space : u8 { end, link_type, ether_type, ip_protocol, udp_port, roce };

/// What follows. In Space::roce, the number is the RoCE version.
struct Next {
  Space space = Space::end;
  u32 number = 0;
};

/// Why the walk ended without a RoCE packet.
enum class Ending : u8 {
  none,        // it did not: there is one
  other,       // the layers lead to something else
  truncated,   // the capture ends within a header
  malformed,   // a header contradicts itself
  fragment,    // a later fragment of an IP packet that carries UDP: it has no BTH
  too_deep,    // more layers than kMaxLayers
  not_roce_v1  // EtherType 0x8915, but not a GRH that leads to a BTH
};

enum class LayerKind : u8 {
  ethernet,
  vlan,
  ipv4,
  ipv6,
  ipv6_extension,
  grh,
  udp,
  linux_cooked,
  null_loopback,
  vxlan,
  gre
};

/// One header passed. `id` is what names the instance: VID, VNI, GRE key, …; else 0.
struct Layer {
  LayerKind kind;
  u32 offset;  // from the start of the frame, bytes
  u32 id;
};

inline constexpr std::size_t kMaxLayers = 32;  // bounds the walk on hostile input

/// What was met on the way down. An inner header replaces an outer one, and a tunnel forgets what
/// was outside, so that the fields describe the frame that holds the RoCE packet.
struct Path {
  std::array<Layer, kMaxLayers> layers;  // the first `depth` of them; the rest is not initialised
  u8 depth = 0;
  u8 tunnels = 0;
  Ending ending = Ending::none;
  bool has_macs = false;
  bool has_vlan = false;
  bool has_ip_id = false;
  bool has_source_port = false;
  u8 tos = 0;    // or traffic class
  u8 ttl = 0;    // or hop limit
  u16 vlan = 0;  // TCI of the innermost tag
  u16 ip_id = 0;
  u16 source_port = 0;
  u32 network_offset = 0;  // of the innermost IP header or GRH, from the start of the frame
  std::array<u8, 6> destination_mac{}, source_mac{};
  Address source, destination;

  constexpr std::span<const Layer> passed() const { return {layers.data(), depth}; }

  void add(LayerKind kind, u32 offset, u32 id = 0) {
    if (depth < kMaxLayers) layers[depth++] = {kind, offset, id};
  }
  void enter_tunnel() {
    tunnels++;
    has_macs = has_vlan = has_ip_id = has_source_port = false;
    vlan = ip_id = source_port = 0;
  }
};

/// A position in the frame: the bytes left, and what they hold.
struct Cursor {
  Next next;
  Bytes bytes;                // captured, from here on
  std::size_t wire_size = 0;  // of the packet from here on, as the innermost length field says
  u32 offset = 0;             // from the start of the frame

  Cursor after(std::size_t header, Next then) const {
    const std::size_t step = std::min(header, bytes.size());
    return {then, bytes.subspan(step), wire_size - std::min(header, wire_size),
            offset + static_cast<u32>(step)};
  }
  /// Obeys a length field: drops what lies beyond, such as Ethernet padding, and knows what was
  /// cut. The field is believed even where the frame is shorter: mirrors truncate.
  Cursor limited_to(std::size_t size) const {
    return {next, bytes.first(std::min(size, bytes.size())), size, offset};
  }
  Cursor ended(Path& path, Ending why) const {
    path.ending = why;
    return {{}, {}, 0, offset};
  }
};

}  // namespace roce::net
