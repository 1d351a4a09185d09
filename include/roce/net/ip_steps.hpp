// SPDX-License-Identifier: BSD-3-Clause
// One step per network and transport header on the way to a BTH.

#pragma once

#include "roce/net/path.hpp"
#include "roce/wire/grh.hpp"

namespace roce::net::step {

inline constexpr u8 kProtocolUdp = 17;

inline Cursor ipv4(Cursor at, Path& path) {
  struct Header {
    u8 version_ihl, tos;
    be16 total_length, id, fragment;
    u8 ttl, protocol;
    be16 checksum;
    be32 source, destination;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  const std::size_t size = std::size_t{4} * (h->version_ihl & 15u);
  // A length of 0 is what segmentation offload leaves: then only the frame tells.
  const std::size_t total = h->total_length != 0 ? h->total_length : at.wire_size;
  if (h->version_ihl >> 4 != 4 || size < sizeof(Header) || total < size) {
    return at.ended(path, Ending::malformed);
  }
  path.add(LayerKind::ipv4, at.offset);
  path.network_offset = at.offset;
  path.source = Address::ipv4(h->source);
  path.destination = Address::ipv4(h->destination);
  path.tos = h->tos;
  path.ttl = h->ttl;
  path.has_ip_id = true;
  path.ip_id = h->id;
  if (h->fragment & 0x1fff) {
    return at.ended(path, h->protocol == kProtocolUdp ? Ending::fragment : Ending::other);
  }
  return at.limited_to(total).after(size, {Space::ip_protocol, h->protocol});
}

inline Cursor ipv6(Cursor at, Path& path) {
  const auto h = read<Grh>(at.bytes);  // the same layout
  if (!h) return at.ended(path, Ending::truncated);
  if (h->version() != 6) return at.ended(path, Ending::malformed);
  path.add(LayerKind::ipv6, at.offset);
  path.network_offset = at.offset;
  path.source = Address::ipv6(h->source);
  path.destination = Address::ipv6(h->destination);
  path.tos = h->traffic_class();
  path.ttl = h->hop_limit;
  path.has_ip_id = false;
  path.ip_id = 0;
  const Cursor body = at.after(sizeof(Grh), {Space::ip_protocol, h->next_header});
  // A length of 0 is a jumbogram or segmentation offload.
  return h->payload_length == 0 ? body : body.limited_to(h->payload_length);
}

/// Hop-by-hop, routing and destination options: RFC 8200, 4.
inline Cursor ipv6_options(Cursor at, Path& path) {
  struct Header {
    u8 next, size;  // in units of 8 bytes, the first 8 left out
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::ipv6_extension, at.offset);
  return at.after(std::size_t{8} * (h->size + 1u), {Space::ip_protocol, h->next});
}

inline Cursor ipv6_fragment(Cursor at, Path& path) {
  struct Header {
    u8 next, reserved;
    be16 fragment;  // offset:13 reserved:2 M:1
    be32 id;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::ipv6_extension, at.offset);
  if (h->fragment & 0xfff8) {
    return at.ended(path, h->next == kProtocolUdp ? Ending::fragment : Ending::other);
  }
  return at.after(sizeof(Header), {Space::ip_protocol, h->next});
}

/// Authentication header, RFC 4302: authenticates, does not hide.
inline Cursor authentication(Cursor at, Path& path) {
  struct Header {
    u8 next, size;  // in units of 4 bytes, the first 8 bytes left out
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return at.ended(path, Ending::truncated);
  path.add(LayerKind::ipv6_extension, at.offset);
  return at.after(std::size_t{4} * (h->size + 2u), {Space::ip_protocol, h->next});
}

inline Cursor udp(Cursor at, Path& path) {
  struct Ports {
    be16 source, destination;
  };
  struct Header {
    be16 source, destination, length, checksum;
  };
  const auto ports = read<Ports>(at.bytes);
  if (!ports) return at.ended(path, Ending::truncated);
  path.add(LayerKind::udp, at.offset);
  path.has_source_port = true;
  path.source_port = ports->source;
  const Next next = {Space::udp_port, ports->destination};
  const auto h = read<Header>(at.bytes);
  // Cut within the header, or a jumbogram (RFC 2675, 4): the IP length has to do.
  if (!h || h->length == 0) return at.after(sizeof(Header), next);
  return at.limited_to(h->length).after(sizeof(Header), next);
}

inline Cursor roce_v2(Cursor at, Path&) {
  return at.after(0, {Space::roce, 2});
}

/// The network header of RoCEv1 (version 1), and of native InfiniBand (version 0).
inline Cursor grh(Cursor at, Path& path) {
  const auto h = read<Grh>(at.bytes);
  if (!h || h->version() != 6 || h->next_header != kGrhNextIba) {
    return at.ended(path, Ending::not_roce_v1);
  }
  path.add(LayerKind::grh, at.offset);
  // The ICRC of native InfiniBand begins with the LRH.
  if (at.next.number != 0) path.network_offset = at.offset;
  path.source = Address::ipv6(h->source);
  path.destination = Address::ipv6(h->destination);
  path.tos = h->traffic_class();
  path.ttl = h->hop_limit;
  return at.after(sizeof(Grh), {Space::roce, at.next.number}).limited_to(h->payload_length);
}

}  // namespace roce::net::step
