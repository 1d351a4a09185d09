// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark has walked to the UDP payload by its own ways. The IP header before it is needed again,
// for the ICRC and for what the flows are keyed by, so it is looked for in front of the payload;
// from there on the core's own steps decide, as they do in the analyzer.

#include "sighting.hpp"

namespace dissector {
namespace {

using namespace roce;

net::Address address_of(const address& from) {
  const auto* bytes = static_cast<const u8*>(from.data);
  if (from.type == AT_IPv4 && from.len == 4) return net::Address::ipv4(*read<be32>({bytes, 4}));
  net::Address out;
  if (from.type == AT_IPv6 && from.len == 16) {
    std::memcpy(out.octets.data(), bytes, 16);
    out.kind = net::AddressKind::ipv6;
  }
  return out;
}

constexpr std::size_t kUdp = 8;

/// Where the IPv4 header begins whose UDP payload is at `payload`; nothing if it is not there, as
/// after the reassembly of fragments.
std::optional<std::size_t> find_ipv4(Bytes frame, std::size_t payload, const address& source) {
  for (std::size_t size = 20; size <= 60 && size + kUdp <= payload; size += 4) {
    const std::size_t at = payload - kUdp - size;
    const bool fits = frame[at] == (0x40 | size / 4) && frame[at + 9] == net::step::kProtocolUdp &&
                      std::memcmp(&frame[at + 12], source.data, 4) == 0;
    if (fits) return at;
  }
  return std::nullopt;
}

/// Likewise for IPv6, with extension headers between.
std::optional<std::size_t> find_ipv6(Bytes frame, std::size_t payload, const address& source) {
  constexpr std::size_t kFixed = sizeof(Grh), kMostExtensions = 512;
  for (std::size_t size = kFixed; size <= kFixed + kMostExtensions && size + kUdp <= payload;
       size += 8) {
    const std::size_t at = payload - kUdp - size;
    if (frame[at] >> 4 == 6 && std::memcmp(&frame[at + 8], source.data, 16) == 0) return at;
  }
  return std::nullopt;
}

/// Steps from the IP header to the UDP payload, whatever its port: Decode As may have named it.
net::Cursor walk_from_ip(Bytes frame, std::size_t wire_size, const packet_info* pinfo,
                         std::size_t payload, net::Path& path) {
  std::optional<std::size_t> ip;
  const bool is_ipv4 = pinfo->net_src.type == AT_IPv4 && pinfo->net_src.len == 4;
  const bool is_ipv6 = pinfo->net_src.type == AT_IPv6 && pinfo->net_src.len == 16;
  if (payload <= frame.size()) {
    if (is_ipv4) ip = find_ipv4(frame, payload, pinfo->net_src);
    if (is_ipv6) ip = find_ipv6(frame, payload, pinfo->net_src);
  }
  if (!ip) return {};
  net::Cursor at = {{net::Space::ether_type, is_ipv4 ? 0x0800u : 0x86ddu},
                    frame.subspan(*ip),
                    wire_size - *ip,
                    static_cast<u32>(*ip)};
  for (std::size_t steps = 0; steps < net::kMaxLayers; steps++) {
    if (at.next.space == net::Space::udp_port) {
      return at.offset == payload ? net::step::roce_v2(at, path) : net::Cursor{};
    }
    if (at.next.space == net::Space::end) break;
    at = net::step_over(at, path);
  }
  return {};
}

}  // namespace

Sighted sight(tvbuff_t* tvb, const packet_info* pinfo, unsigned version,
              net::AddressTable& addresses) {
  Sighted out;
  tvbuff_t* const source = tvb_get_ds_tvb(tvb);
  const auto captured = static_cast<std::size_t>(tvb_captured_length(source));
  const auto wire_size = static_cast<std::size_t>(tvb_reported_length(source));
  const int raw = tvb_raw_offset(tvb);
  if (raw < 0 || captured == 0 || static_cast<std::size_t>(raw) > captured) return out;
  const auto start = static_cast<std::size_t>(raw);
  out.frame = {tvb_get_ptr(source, 0, static_cast<int>(captured)), captured};

  net::Path path;
  net::Cursor at;
  if (version == 1) {
    at = {{net::Space::grh, 1},
          out.frame.subspan(start),
          wire_size - std::min(start, wire_size),
          static_cast<u32>(start)};
    at = net::step_over(at, path);
    if (at.next.space != net::Space::roce) {
      out.what = net::Sighting::undecoded;
      return out;
    }
    out.bth = static_cast<int>(sizeof(Grh));
    out.has_network = true;
  } else {
    at = walk_from_ip(out.frame, wire_size, pinfo, start, path);
    out.has_network = at.next.space == net::Space::roce;
    if (!out.has_network) {
      path.source = address_of(pinfo->net_src);
      path.destination = address_of(pinfo->net_dst);
      path.source_port = static_cast<u16>(pinfo->srcport);
      path.has_source_port = true;
      const auto size = static_cast<std::size_t>(tvb_captured_length(tvb));
      at = {{net::Space::roce, 2},
            out.frame.subspan(start).first(size),
            tvb_reported_length(tvb),
            static_cast<u32>(start)};
    }
  }
  out.source = path.source;
  out.destination = path.destination;
  out.packet = RocePacket::decode(at.bytes, at.wire_size);
  out.what = net::observe_end(at, path, pinfo->fd->pkt_len, addresses, out.seen, out.located);
  out.seen.frame = pinfo->num;
  const nstime_t& time = pinfo->abs_ts;
  out.seen.time = static_cast<u64>(time.secs) * 1'000'000'000u + static_cast<u64>(time.nsecs);
  return out;
}

IcrcStatus check_icrc(const Sighted& sighted) {
  if (!sighted.is_roce() || !sighted.has_network) return IcrcStatus::not_checked;
  switch (roce::check_icrc(sighted.frame, sighted.located)) {
    case IcrcCheck::good: return IcrcStatus::good;
    case IcrcCheck::bad: return IcrcStatus::bad;
    case IcrcCheck::not_captured: break;
  }
  return IcrcStatus::not_captured;
}

const char* name(IcrcStatus status) {
  switch (status) {
    case IcrcStatus::good: return "good";
    case IcrcStatus::bad: return "bad";
    case IcrcStatus::not_captured: return "not_captured";
    case IcrcStatus::not_checked: break;
  }
  return "not_checked";
}

}  // namespace dissector
