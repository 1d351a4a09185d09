// SPDX-License-Identifier: BSD-3-Clause
// ICMP and ICMPv6 errors that quote a RoCEv2 packet: a host or router on the path tells its sender
// why the packet did not arrive. RFC 792, RFC 1191, RFC 4443.

#pragma once

#include "roce/net/unopened.hpp"
#include "roce/wire/headers.hpp"

namespace roce::net {

inline constexpr Next kIcmp = {Space::ip_protocol, 1};
inline constexpr Next kIcmpV6 = {Space::ip_protocol, 58};

/// The error, and the packet that it is about.
struct IcmpError {
  bool is_v6 = false;
  u8 type = 0;
  u8 code = 0;
  u32 mtu = 0;  // bytes, of the link that the packet was too big for; 0: not said
  Address reporter;
  Address source, destination;  // of the quoted packet
  u16 source_port = 0;
  std::optional<Bth> bth;  // few routers quote more than the UDP header (RFC 792)
};

/// What an error means, in the words of its RFC; "error" for a type or code that has none.
constexpr std::string_view icmp_error_name(bool is_v6, u8 type, u8 code) {
  constexpr std::string_view kUnreachable[] = {"network unreachable",
                                               "host unreachable",
                                               "protocol unreachable",
                                               "port unreachable",
                                               "fragmentation needed",
                                               "source route failed",
                                               "network unknown",
                                               "host unknown",
                                               "source host isolated",
                                               "network prohibited",
                                               "host prohibited",
                                               "network unreachable for this class",
                                               "host unreachable for this class",
                                               "administratively prohibited",
                                               "precedence violation",
                                               "precedence too low"};
  constexpr std::string_view kUnreachableV6[] = {"no route",
                                                 "administratively prohibited",
                                                 "beyond scope of source address",
                                                 "address unreachable",
                                                 "port unreachable",
                                                 "source address failed policy",
                                                 "reject route"};
  constexpr std::string_view kNone = "error";
  if (is_v6) {
    switch (type) {
      case 1: return code < std::size(kUnreachableV6) ? kUnreachableV6[code] : kNone;
      case 2: return "packet too big";
      case 3: return code == 0 ? "hop limit exceeded" : "reassembly time exceeded";
      case 4: return "parameter problem";
      default: return kNone;
    }
  }
  switch (type) {
    case 3: return code < std::size(kUnreachable) ? kUnreachable[code] : kNone;
    case 4: return "source quench";
    case 11: return code == 0 ? "TTL exceeded" : "reassembly time exceeded";
    case 12: return "parameter problem";
    default: return kNone;
  }
}

/// Decodes the ICMP or ICMPv6 message at `at`, which `path` led to. Nothing if it is no error, or
/// what it quotes is no datagram to UDP port 4791.
inline std::optional<IcmpError> decode_icmp_error(const Cursor& at, const Path& path) {
  struct Header {
    u8 type, code;
    be16 checksum;
    be32 rest;
  };
  const auto h = read<Header>(at.bytes);
  if (!h) return std::nullopt;
  IcmpError out;
  out.is_v6 = at.next == kIcmpV6;
  out.type = h->type;
  out.code = h->code;
  const bool is_error = out.is_v6 ? h->type >= 1 && h->type <= 4
                                  : h->type == 3 || h->type == 4 || h->type == 11 || h->type == 12;
  if (!is_error) return std::nullopt;
  if (out.is_v6 && h->type == 2) out.mtu = h->rest;
  if (!out.is_v6 && h->type == 3 && h->code == 4) out.mtu = h->rest & 0xffffu;
  out.reporter = path.source;

  Path quoted;
  const Next ip = {Space::ether_type, out.is_v6 ? 0x86ddu : 0x0800u};
  const Cursor packet = walk_until({Space::roce}, at.after(sizeof(Header), ip), quoted);
  if (packet.next != Next{Space::roce, 2}) return std::nullopt;
  out.source = quoted.source;
  out.destination = quoted.destination;
  out.source_port = quoted.source_port;
  out.bth = read<Bth>(packet.bytes);
  return out;
}

}  // namespace roce::net
