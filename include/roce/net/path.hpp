// SPDX-License-Identifier: BSD-3-Clause
// What the walk through a frame's layers carries along: where it stands, and what it met.

#pragma once

#include <algorithm>

#include "roce/net/address.hpp"
#include "roce/wire/bytes.hpp"

namespace roce::net {

/// Number spaces in which a header names what follows it.
enum class Space : u8 { end, link_type, ether_type, llc, ip_protocol, udp_port, grh, roce };

/// What follows. In Space::grh and Space::roce, the number is the RoCE version; 0 is InfiniBand.
struct Next {
  Space space = Space::end;
  u32 number = 0;

  constexpr bool operator==(const Next&) const = default;
};

/// Why the walk ended without a RoCE packet.
enum class Ending : u8 {
  none,        // it did not: there is one
  other,       // the layers lead to something else
  truncated,   // the capture ends within a header
  malformed,   // a header contradicts itself
  fragment,    // a later fragment of an IP packet that carries UDP: it has no BTH
  encrypted,   // MACsec or IPsec
  too_deep,    // more layers than kMaxLayers
  not_roce_v1  // EtherType 0x8915, but no GRH that leads to a BTH
};

enum class LayerKind : u8 {
  ethernet,
  vlan,
  switch_tag,
  llc,
  pppoe,
  mpls,
  macsec,
  ipv4,
  ipv6,
  ipv6_extension,
  ipsec,
  udp,
  grh,
  lrh,
  linux_cooked,
  null_loopback,
  erf,
  vxlan,
  vxlan_gpe,
  geneve,
  gre,
  erspan,
  gtp_u
};

/// The kinds' names, in their order.
inline constexpr std::string_view kLayerNames[] = {
    "Ethernet", "VLAN",   "switch tag", "LLC",       "PPPoE",
    "MPLS",     "MACsec", "IPv4",       "IPv6",      "IPv6 extension",
    "IPsec",    "UDP",    "GRH",        "LRH",       "Linux cooked",
    "loopback", "ERF",    "VXLAN",      "VXLAN-GPE", "Geneve",
    "GRE",      "ERSPAN", "GTP-U"};
static_assert(std::size(kLayerNames) == static_cast<std::size_t>(LayerKind::gtp_u) + 1);

constexpr std::string_view layer_name(LayerKind kind) {
  return kLayerNames[static_cast<std::size_t>(kind)];
}

/// One header passed. `id` is what names the instance (VID, VNI, GRE key, MPLS label, session) or
/// the kind within (ERF type); else 0.
struct Layer {
  LayerKind kind;
  u32 offset;  // from the start of the frame, bytes
  u32 id;
};

/// What an ERSPAN type III timestamp counts.
enum class Granularity : u8 { hundred_microseconds, hundred_nanoseconds, nanoseconds, custom };

/// What the innermost GRE header, and ERSPAN in it, say of the mirror.
struct Mirror {
  bool has_sequence = false;
  u8 erspan_type = 0;  // 1 to 3; 0: plain GRE, or none
  Granularity granularity = Granularity::hundred_microseconds;
  u16 session = 0;    // types II and III
  u32 sequence = 0;   // of the GRE header: a gap is a loss between mirror and capture
  u32 timestamp = 0;  // type III
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
  Mirror mirror;
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
