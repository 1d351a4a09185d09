// SPDX-License-Identifier: BSD-3-Clause
// One RoCE packet as the flow layer sees it: numbers only, no bytes.
//
// A frame's bytes live until the next batch; an Observation is what outlives them. It is filled by
// observe_frame() (net/observe.hpp), and copied by value.

#pragma once

#include "roce/wire/bytes.hpp"

namespace roce::flow {

/// Bits of Observation::flags: what the packet said, and what of it was captured.
enum ObservationFlag : u16 {
  kAckRequested = 1 << 0,  // BTH AckReq
  kSolicited = 1 << 1,     // BTH SE
  kBecn = 1 << 2,
  kFecn = 1 << 3,
  kHasAeth = 1 << 4,         // `aeth` holds syndrome << 24 | MSN
  kHasDmaLength = 1 << 5,    // `dma_length` holds the RETH's DMALen
  kHasIcrc = 1 << 6,         // the ICRC was captured, and with it the whole packet
  kHasIpId = 1 << 7,         // IPv4: `ip_id` is meaningful
  kTruncated = 1 << 8,       // fewer bytes captured than the packet had
  kUndecoded = 1 << 9,       // decoding stopped at the BTH: unknown opcode, or no room
  kHasVlan = 1 << 10,        // `vlan` holds the innermost tag's TCI
  kHasSourcePort = 1 << 11,  // RoCEv2
  kIcrcGood = 1 << 12,       // set by who checked it
  kIcrcBad = 1 << 13,
  kCopy = 1 << 14  // as a second tap saw it, another being judged; set by who knows
};

/// All integers are in host order.
struct Observation {
  u64 time = 0;          // nanoseconds since the epoch, as the capture file says
  u64 frame = 0;         // from 1, in the order of the trace
  u32 source = 0;        // ids given out by net::AddressTable
  u32 destination = 0;   //
  u32 dest_qp = 0;       // 24 bits
  u32 psn = 0;           // 24 bits
  u32 payload_size = 0;  // bytes on the wire, padding left out
  u32 wire_size = 0;     // of the whole frame, before the capture cut it, bytes
  u32 dma_length = 0;    // RETH
  u32 aeth = 0;          // syndrome << 24 | MSN
  u32 icrc = 0;          // as stored, when kHasIcrc
  u32 source_qp = 0;     // DETH, for UD; 0 without
  u16 flags = 0;         // ObservationFlag
  u16 ip_id = 0;
  u16 source_port = 0;  // UDP
  u16 vlan = 0;         // TCI: PCP 3 bits, DEI 1, VID 12
  u8 opcode = 0;
  u8 version = 2;  // RoCE version: 1 or 2
  u8 tos = 0;      // DSCP << 2 | ECN; the GRH's traffic class for v1
  u8 ttl = 0;      // or hop limit

  constexpr bool operator==(const Observation&) const = default;

  constexpr u8 ecn() const { return tos & 3; }
  constexpr u8 dscp() const { return static_cast<u8>(tos >> 2); }
  constexpr bool has(ObservationFlag flag) const { return flags & flag; }
  constexpr u8 syndrome() const { return static_cast<u8>(aeth >> 24); }
};
static_assert(sizeof(Observation) == 72 || sizeof(Observation) == 80);

}  // namespace roce::flow
