// SPDX-License-Identifier: BSD-3-Clause
// From a captured frame to an Observation: what the flow layer needs of it, as numbers.
//
// Nearly every frame of a capture has one of four shapes (Ethernet, perhaps one VLAN tag, IPv4 or
// IPv6, UDP), so these are decoded at fixed offsets; everything else, and whatever looks odd,
// takes the walk through the layers. The two give the same answer: tests compare them.

#pragma once

#include <bit>

#include "roce/flow/observation.hpp"
#include "roce/net/layers.hpp"
#include "roce/net/located.hpp"
#include "roce/packet.hpp"

namespace roce::net {

inline constexpr u16 kRoceV2Port = 4791;

/// What a frame turned out to be.
enum class Sighting : u8 {
  roce,              // a BTH was read
  not_roce,          // nothing of RoCE in it
  not_roce_on_4791,  // UDP to the RoCEv2 port, but it cannot be a RoCE packet
  undecoded          // RoCE, or a later IP fragment that may be, whose BTH was not captured
};

namespace detail {

/// The big-endian integer at `at`; the caller provides that it is there. One load and one byte
/// swap, which GCC does not make of BigEndian's expression in every surrounding.
inline u16 load16(const u8* at) {
  u16 value;
  std::memcpy(&value, at, sizeof(value));
  return std::endian::native == std::endian::little ? __builtin_bswap16(value) : value;
}
inline u32 load32(const u8* at) {
  u32 value;
  std::memcpy(&value, at, sizeof(value));
  return std::endian::native == std::endian::little ? __builtin_bswap32(value) : value;
}

/// What observe_quickly() needs of an opcode.
struct QuickLayout {
  u8 head = 0;  // as in OpcodeLayout
  u8 aeth = 0, dma_length = 0, source_qp = 0;
  u16 flags = 0;  // ObservationFlag: the headers it has
  bool has_payload = false;
};
inline constexpr std::array<QuickLayout, 256> kQuickLayout = [] {
  std::array<QuickLayout, 256> table{};
  for (std::size_t i = 0; i < table.size(); i++) {
    const OpcodeLayout& from = kOpcodeLayout[i];
    const unsigned flags = (from.aeth != 0 ? u32{flow::kHasAeth} : 0) |
                           (from.dma_length != 0 ? u32{flow::kHasDmaLength} : 0) |
                           flow::kHasSourcePort;
    table[i] = {from.head,      from.aeth, from.dma_length, from.source_qp, static_cast<u16>(flags),
                i != kCnpOpcode};
  }
  return table;
}();

/// Whether a UDP payload of `size` bytes sent to port 4791 can be a RoCE packet. Every length on
/// the wire is a multiple of 4 (IBTA 9.2.5: padding). A missing ICRC is forgiven: captures taken
/// before the NIC adds it have none.
inline bool can_be_roce(const RocePacket& packet, std::size_t size) {
  if (size < sizeof(Bth) || size % 4 != 0) return false;
  if (!packet.has_bth()) return true;
  const Bth& bth = packet.bth();
  if (bth.version() != 0) return false;
  if (packet.opcode().known()) return size >= kOpcodeLayout[bth.opcode].head + bth.pad_count();
  // Unassigned: at least what is reserved should be zero, as it hardly is in what is no BTH.
  return (bth.congestion & 0x3f) == 0 && (bth.ack & 0x7f) == 0 && bth.pkey != 0 &&
         size >= sizeof(Bth) + kIcrcSize;
}

inline void observe_packet(const RocePacket& packet, std::size_t captured, std::size_t size,
                           flow::Observation& out) {
  const Bth& bth = packet.bth();
  u32 flags = 0;
  if (bth.ack_requested()) flags |= flow::kAckRequested;
  if (bth.solicited()) flags |= flow::kSolicited;
  if (bth.fecn()) flags |= flow::kFecn;
  if (bth.becn()) flags |= flow::kBecn;
  if (captured < size) flags |= flow::kTruncated;
  const std::size_t head = kOpcodeLayout[bth.opcode].head;
  if (head == 0 || size < head) flags |= flow::kUndecoded;
  out.opcode = bth.opcode;
  out.dest_qp = bth.dest_qp;
  out.psn = bth.psn;
  const bool has_payload = packet.opcode().role != Role::notify;  // a CNP's is reserved zeros
  out.payload_size = has_payload ? static_cast<u32>(packet.payload_size()) : 0;
  out.aeth = out.dma_length = out.source_qp = out.icrc = 0;
  if (const auto aeth = packet.get<Aeth>()) {
    flags |= flow::kHasAeth;
    out.aeth = u32{aeth->syndrome} << 24 | aeth->msn;
  }
  if (const auto reth = packet.get<Reth>()) {
    flags |= flow::kHasDmaLength;
    out.dma_length = reth->dma_length;
  }
  if (const auto deth = packet.get<Deth>()) out.source_qp = deth->source_qp;
  if (packet.icrc()) {
    flags |= flow::kHasIcrc;
    out.icrc = *packet.icrc();
  }
  out.flags = static_cast<u16>(flags);
}

}  // namespace detail

/// Observes what a walk ended at, be it a packet or not; `path` says how it came there.
inline Sighting observe_end(const Cursor& at, const Path& path, u32 wire_size,
                            AddressTable& addresses, flow::Observation& out, Located& located) {
  if (at.next.space != Space::roce) {
    const bool lost = path.ending == Ending::fragment || path.ending == Ending::not_roce_v1;
    return lost ? Sighting::undecoded : Sighting::not_roce;
  }
  const RocePacket packet = RocePacket::decode(at.bytes, at.wire_size);
  const bool on_udp = at.next.number == 2;
  if (on_udp && !detail::can_be_roce(packet, at.wire_size)) return Sighting::not_roce_on_4791;
  if (!packet.has_bth()) return Sighting::undecoded;

  detail::observe_packet(packet, at.bytes.size(), at.wire_size, out);
  out.source = addresses.id_of(path.source);
  out.destination = addresses.id_of(path.destination);
  out.wire_size = wire_size;
  out.ip_id = path.ip_id;
  out.source_port = path.source_port;
  out.vlan = path.vlan;
  out.version = static_cast<u8>(at.next.number);
  out.tos = path.tos;
  out.ttl = path.ttl;
  u32 flags = out.flags;
  if (path.has_ip_id) flags |= flow::kHasIpId;
  if (path.has_vlan) flags |= flow::kHasVlan;
  if (path.has_source_port) flags |= flow::kHasSourcePort;
  out.flags = static_cast<u16>(flags);
  const bool has_icrc =
      at.bytes.size() >= at.wire_size && packet.stop().reason != StopReason::bad_length;
  located = {path.network_offset, at.offset, static_cast<u32>(at.wire_size), out.version, has_icrc};
  return Sighting::roce;
}

/// Observes by the walk alone: any frame, any link type.
inline Sighting observe_slowly(Bytes frame, u32 wire_size, u16 link_type, AddressTable& addresses,
                               flow::Observation& out, Located& located) {
  Path path;
  const Cursor at = walk(frame, wire_size, link_type, path);
  return observe_end(at, path, wire_size, addresses, out, located);
}

namespace detail {

// The four usual shapes, all offsets known. All checks come first, then every field is loaded where
// it is stored: what is kept between costs more than to load it again.
template <bool kTagged, bool kIsIpv4>
[[gnu::always_inline]] inline bool observe_shape(Bytes frame, u32 wire_size,
                                                 AddressTable& addresses, flow::Observation& out,
                                                 Located& located) {
  constexpr std::size_t kUdp = 8;
  constexpr std::size_t kIpOffset = kTagged ? 18 : 14;
  constexpr std::size_t kBthOffset = kIpOffset + (kIsIpv4 ? 20 : 40) + kUdp;
  if (frame.size() < kBthOffset + sizeof(Bth)) [[unlikely]]
    return false;
  const u8* const ip = frame.data() + kIpOffset;
  const u8* const bth = frame.data() + kBthOffset;
  // IPv4: no fragment, neither the first nor a later one; UDP.
  const bool is_udp =
      kIsIpv4 ? (load32(ip + 6) & 0x3fff'00ff) == step::kProtocolUdp : ip[6] == step::kProtocolUdp;
  const u32 udp_size = kIsIpv4 ? load16(ip + 2) - u32{20} : load16(ip + 4);
  if (!is_udp || load32(bth - 6) != (u32{kRoceV2Port} << 16 | udp_size)) [[unlikely]]
    return false;

  const u32 first = load32(bth);  // opcode:8 SE:1 M:1 PadCnt:2 TVer:4 P_Key:16
  const QuickLayout layout = kQuickLayout[first >> 24];
  const u32 size = udp_size - u32{kUdp};
  const u32 least = layout.head + (first >> 20 & 3) + u32{kIcrcSize};
  const std::size_t captured = frame.size() - kBthOffset;
  if (layout.head == 0 || captured < layout.head || udp_size < kUdp + least ||
      ((first & 0x000f'0000) | size % 4) != 0) [[unlikely]]
    return false;

  if constexpr (kIsIpv4) {
    out.source = addresses.id_of_ipv4(load32(ip + 12));
    out.destination = addresses.id_of_ipv4(load32(ip + 16));
    out.ip_id = load16(ip + 4);
    out.tos = ip[1];
    out.ttl = ip[8];
  } else {
    out.source = addresses.id_of_ipv6(ip + 8);
    out.destination = addresses.id_of_ipv6(ip + 24);
    out.ip_id = 0;
    out.tos = static_cast<u8>(load16(ip) >> 4);
    out.ttl = ip[7];
  }
  out.opcode = static_cast<u8>(first >> 24);
  out.version = 2;
  out.wire_size = wire_size;
  out.payload_size = layout.has_payload ? size - least : 0;
  out.source_port = load16(bth - kUdp);
  out.vlan = kTagged ? load16(ip - 4) : u16{0};

  const u32 second = load32(bth + 4);  // FECN:1 BECN:1 reserved:6 DestQP:24
  out.dest_qp = second & 0xff'ffff;
  const u32 third = load32(bth + 8);  // A:1 reserved:7 PSN:24
  out.psn = third & 0xff'ffff;
  static_assert(flow::kAckRequested == 1 && flow::kSolicited == 2);
  static_assert(flow::kBecn == 4 && flow::kFecn == 8);
  constexpr u32 kFlags = (kTagged ? u32{flow::kHasVlan} : 0) | (kIsIpv4 ? u32{flow::kHasIpId} : 0);
  const u32 flags = kFlags | layout.flags | third >> 31 | (first >> 22 & flow::kSolicited) |
                    (second >> 28 & (flow::kFecn | flow::kBecn));
  const bool whole = captured >= size;
  out.flags = static_cast<u16>(flags | (whole ? flow::kHasIcrc : flow::kTruncated));
  out.icrc = whole ? load32(bth + size - kIcrcSize) : 0;

  // Where a header is not there, its offset leads to the BTH, and what was read is left out:
  // cheaper than branches that the mix of opcodes makes hard to foresee.
  const u32 aeth = load32(bth + layout.aeth);
  out.aeth = layout.aeth != 0 ? aeth : 0;
  const u32 dma_length = load32(bth + layout.dma_length);
  out.dma_length = layout.dma_length != 0 ? dma_length : 0;
  const u32 source_qp = load32(bth + layout.source_qp);
  out.source_qp = layout.source_qp != 0 ? source_qp & 0xff'ffff : 0;
  located = {u32{kIpOffset}, u32{kBthOffset}, size, 2, whole};
  return true;
}

}  // namespace detail

/// Observes an Ethernet frame at fixed offsets. False: the frame has another shape, or anything
/// odd about it; then nothing was changed.
[[gnu::always_inline]] inline bool observe_quickly(Bytes frame, u32 wire_size,
                                                   AddressTable& addresses, flow::Observation& out,
                                                   Located& located) {
  using namespace detail;
  if (frame.size() < 20) [[unlikely]]
    return false;
  const bool tagged = load16(frame.data() + 12) == 0x8100;
  // EtherType, and the first two bytes of IP.
  const u32 word = load32(frame.data() + (tagged ? 16 : 12));
  if ((word & 0xffff'ff00) == 0x0800'4500) {  // without options
    return tagged ? observe_shape<true, true>(frame, wire_size, addresses, out, located)
                  : observe_shape<false, true>(frame, wire_size, addresses, out, located);
  }
  if ((word & 0xffff'f000) != 0x86dd'6000) [[unlikely]]
    return false;
  return tagged ? observe_shape<true, false>(frame, wire_size, addresses, out, located)
                : observe_shape<false, false>(frame, wire_size, addresses, out, located);
}

/// Observes what a mirror or an overlay wrapped: walks to the Ethernet frame inside, which most
/// often has a usual shape again, and on from there if it has not.
[[gnu::noinline]] inline Sighting observe_wrapped(Bytes frame, u32 wire_size, u16 link_type,
                                                  AddressTable& addresses, flow::Observation& out,
                                                  Located& located) {
  Path path;
  Cursor at = walk_until(step::kEthernet, start(frame, wire_size, link_type), path);
  if (at.next == step::kEthernet) {
    // Only a tunnel forgets the VLAN outside, as observe_quickly() does.
    if (!path.has_vlan && observe_quickly(at.bytes, wire_size, addresses, out, located)) {
      located.network_offset += at.offset;
      located.bth_offset += at.offset;
      return Sighting::roce;
    }
    at = walk_until({Space::roce}, at, path);
  }
  return observe_end(at, path, wire_size, addresses, out, located);
}

/// Fills `out` from a frame: everything but `time` and `frame`, which are the caller's. `wire_size`
/// is what the frame had before the capture cut it, `link_type` its interface's LINKTYPE_ number.
/// Only after Sighting::roce do `out` and `located` mean anything.
inline Sighting observe_frame(Bytes frame, u32 wire_size, u16 link_type, AddressTable& addresses,
                              flow::Observation& out, Located& located) {
  if (link_type == step::kEthernet.number &&
      observe_quickly(frame, wire_size, addresses, out, located)) [[likely]] {
    return Sighting::roce;
  }
  return observe_wrapped(frame, wire_size, link_type, addresses, out, located);
}

inline Sighting observe_frame(Bytes frame, u32 wire_size, u16 link_type, AddressTable& addresses,
                              flow::Observation& out) {
  Located located;
  return observe_frame(frame, wire_size, link_type, addresses, out, located);
}

}  // namespace roce::net
