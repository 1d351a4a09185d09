// SPDX-License-Identifier: BSD-3-Clause
// sFlow version 5 (sflow.org, sflow_version_5.txt): a switch sends the beginnings of sampled
// packets to a collector, in datagrams to UDP port 6343.

#pragma once

#include "roce/net/path.hpp"

namespace roce::net {

inline constexpr Next kSflow = {Space::udp_port, 6343};

/// The beginning of one packet that the agent sampled.
struct SflowSample {
  Address agent;
  u32 rate = 0;        // it stands for so many packets
  u32 drops = 0;       // samples that the agent had to drop, so far
  u32 frame_size = 0;  // bytes on the wire
  u16 link_type = 0;   // LINKTYPE_ number of `header`
  Bytes header;
};

namespace detail {

/// Takes big-endian words from the front of bytes; all of what lies beyond their end is 0, and
/// `failed` then says so.
class XdrReader {
 public:
  explicit XdrReader(Bytes bytes) : bytes_(bytes) {}
  u32 word() {
    const auto value = read<be32>(bytes_);
    skip(sizeof(be32));
    return value ? u32{*value} : 0;
  }
  /// The next `size` bytes, which XDR pads to whole words. Fewer if there are fewer.
  Bytes opaque(std::size_t size) {
    const Bytes out = bytes_.first(std::min(size, bytes_.size()));
    skip((size + 3) / 4 * 4);
    return out;
  }
  void skip(std::size_t size) {
    failed_ = failed_ || size > bytes_.size();
    bytes_ = bytes_.subspan(std::min(size, bytes_.size()));
  }
  bool failed() const { return failed_; }

 private:
  Bytes bytes_;
  bool failed_ = false;
};

/// The LINKTYPE_ number of sFlow's header_protocol; 0 for what cannot hold RoCE.
constexpr u16 link_type_of_sflow(u32 protocol) {
  switch (protocol) {
    case 1: return 1;     // Ethernet
    case 11: return 228;  // IPv4
    case 12: return 229;  // IPv6
    default: return 0;
  }
}

template <class Visit>
void read_flow_sample(Bytes body, bool expanded, SflowSample sample, Visit& visit) {
  XdrReader in(body);
  in.skip(expanded ? 12 : 8);  // sequence number, source
  sample.rate = in.word();
  in.skip(4);  // sample pool
  sample.drops = in.word();
  in.skip(expanded ? 16 : 8);  // input and output interfaces
  for (u32 left = in.word(); left > 0 && !in.failed(); left--) {
    constexpr u32 kRawHeader = 1;
    const u32 format = in.word();
    const u32 size = in.word();
    const Bytes record = in.opaque(size);
    if (format != kRawHeader) continue;
    XdrReader raw(record);
    sample.link_type = link_type_of_sflow(raw.word());
    sample.frame_size = raw.word();
    raw.skip(4);  // bytes that the agent stripped, such as the FCS
    sample.header = raw.opaque(raw.word());
    if (sample.link_type != 0 && !sample.header.empty()) visit(sample);
  }
}

}  // namespace detail

/// Calls visit(const SflowSample&) for each sampled packet of a datagram. False if it is no sFlow
/// version 5.
template <class Visit>
bool decode_sflow(Bytes datagram, Visit visit) {
  constexpr u32 kIpv4 = 1, kIpv6 = 2, kFlow = 1, kExpandedFlow = 3;
  detail::XdrReader in(datagram);
  if (in.word() != 5) return false;
  SflowSample sample;
  const u32 kind = in.word();
  if (kind == kIpv4) {
    sample.agent = Address::ipv4(in.word());
  } else if (kind == kIpv6) {
    const auto octets = read<std::array<u8, 16>>(in.opaque(16));
    if (octets) sample.agent = Address::ipv6(*octets);
  } else {
    return false;
  }
  in.skip(12);  // sub-agent, sequence number, uptime
  for (u32 left = in.word(); left > 0 && !in.failed(); left--) {
    const u32 format = in.word();
    const u32 size = in.word();
    const Bytes body = in.opaque(size);
    if (format == kFlow || format == kExpandedFlow)
      detail::read_flow_sample(body, format == kExpandedFlow, sample, visit);
  }
  return true;
}

}  // namespace roce::net
