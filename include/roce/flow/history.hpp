// SPDX-License-Identifier: BSD-3-Clause
// A bounded log of the packets seen last, over all flows, each linked to the one before it in its
// half-flow.
//
// It answers whether this very packet was captured before: mirrors deliver packets twice, up to a
// millisecond apart. Written in sequence it costs a fraction of a cache line per packet, where a
// table keyed by PSN would cost a miss; it is searched only when something is out of order.

#pragma once

#include <vector>

#include "roce/flow/observation.hpp"

namespace roce::flow {

/// One remembered packet.
struct PastPacket {
  u64 time = 0;      // nanoseconds
  u32 previous = 0;  // in its half-flow; a number of History
  u32 psn_and_opcode = 0;
  u32 icrc = 0;
  u16 ip_id = 0;
  u8 ttl = 0;
  u8 flags = 0;  // PastFlag

  constexpr u32 psn() const { return psn_and_opcode & 0xff'ffff; }
  constexpr u8 opcode() const { return static_cast<u8>(psn_and_opcode >> 24); }
};
static_assert(sizeof(PastPacket) == 24);

enum PastFlag : u8 { kPastHasIpId = 1, kPastHasIcrc = 2 };

class History {
 public:
  History() : packets_(kSize) {}

  /// Remembers `packet`; `last` is the number of its half-flow's latest packet, and becomes its
  /// own. Numbers start at 1; 0 is none.
  void remember(const Observation& packet, u32& last) {
    count_++;
    if (count_ == 0) [[unlikely]]
      count_ = kSize;  // after four thousand million packets
    static_assert(kPastHasIpId << 7 == kHasIpId && kPastHasIcrc << 5 == kHasIcrc);
    packets_[count_ % kSize] = {.time = packet.time,
                                .previous = last,
                                .psn_and_opcode = packet.psn | u32{packet.opcode} << 24,
                                .icrc = packet.icrc,
                                .ip_id = packet.ip_id,
                                .ttl = packet.ttl,
                                .flags = static_cast<u8>((packet.flags >> 7 & kPastHasIpId) |
                                                         (packet.flags >> 5 & kPastHasIcrc))};
    last = count_;
  }

  /// The latest packet of a half-flow, from its number `last` back, for which `match` holds; null
  /// if it is forgotten, or more than kDepth packets back.
  template <class Match>
  const PastPacket* find(u32 last, Match match) const {
    for (u32 steps = 0; steps < kDepth && last != 0 && count_ - last < kSize; steps++) {
      const PastPacket& packet = packets_[last % kSize];
      if (match(packet)) return &packet;
      // A link only ever leads back; whatever else it does leads into what was overwritten.
      if (packet.previous >= last) return nullptr;
      last = packet.previous;
    }
    return nullptr;
  }

  static constexpr u32 kSize = 1u << 15;
  static constexpr u32 kDepth = 256;

 private:
  std::vector<PastPacket> packets_;
  u32 count_ = 0;
};

/// Whether `packet` is the same transmission as `before`, captured once more: same operation, ICRC
/// and IP identification within a millisecond, and no more hops to live than before.
/// Without an IP identification that tells transmissions apart (`ids_differ`), a repeat looks the
/// same as a copy, so the time must be too short for the sender to have reacted: `reaction`
/// nanoseconds.
constexpr bool is_capture_of(const PastPacket& before, const Observation& packet, bool ids_differ,
                             u64 reaction) {
  constexpr u64 kMillisecond = 1'000'000;
  const u64 apart = packet.time >= before.time ? packet.time - before.time : 0;
  if (apart > kMillisecond || packet.ttl > before.ttl) return false;
  if (before.opcode() != packet.opcode) return false;
  const bool both_icrc = (before.flags & kPastHasIcrc) && packet.has(kHasIcrc);
  if (both_icrc && before.icrc != packet.icrc) return false;
  if (ids_differ && (before.flags & kPastHasIpId) && packet.has(kHasIpId))
    return before.ip_id == packet.ip_id;
  return apart < reaction;
}

}  // namespace roce::flow
