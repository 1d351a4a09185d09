// SPDX-License-Identifier: BSD-3-Clause
// A bounded memory of the packets seen last, over all flows.
//
// Two questions are asked of it: was this very packet captured before (mirrors deliver packets
// twice), and when did the request go by that this response answers. Both look back by a round trip
// or a millisecond at most, so forgetting the oldest costs answers, never correctness.

#pragma once

#include <bit>
#include <vector>

#include "roce/flow/flow_key.hpp"

namespace roce::flow {

/// One remembered packet; 32 bytes, two to a cache line.
struct RecentPacket {
  u32 flow = 0;  // id of the half-flow; 0: empty
  u32 psn_and_opcode = 0;
  u64 time = 0;
  u64 frame = 0;
  u32 icrc = 0;
  u16 ip_id = 0;
  u8 ttl = 0;
  u8 flags = 0;  // RecentFlag

  /// Of the operation, as if the service were RC.
  constexpr u8 opcode() const { return psn_and_opcode >> 24 & 0x1f; }
};
static_assert(sizeof(RecentPacket) == 32);

enum RecentFlag : u8 { kRecentHasIpId = 1, kRecentHasIcrc = 2, kRecentSentTwice = 4 };

class RecentPackets {
 public:
  explicit RecentPackets(std::size_t sets = 1u << 13) : sets_(sets), mask_(sets - 1) {}

  /// Where the packet would stand: a hint for prefetching.
  std::size_t slot(u32 flow, u32 psn, bool response) const {
    return mix(u64{flow} << 1 | response, psn) & mask_;
  }
  const void* address(std::size_t slot) const { return &sets_[slot]; }

  /// The packet of that PSN seen last in `flow`, requests and responses apart; null if forgotten.
  RecentPacket* find(u32 flow, u32 psn, bool response) {
    for (RecentPacket& entry : sets_[slot(flow, psn, response)].ways)
      if (entry.flow == flow && matches(entry, psn, response)) return &entry;
    return nullptr;
  }

  /// Remembers `packet` in place of the older of two.
  RecentPacket& remember(u32 flow, const Observation& packet, bool response) {
    Set& set = sets_[slot(flow, packet.psn, response)];
    RecentPacket* victim = &set.ways[0];
    for (RecentPacket& entry : set.ways) {
      if (entry.flow == flow && matches(entry, packet.psn, response)) {
        victim = &entry;
        break;
      }
      if (entry.frame < victim->frame) victim = &entry;
    }
    *victim = {.flow = flow,
               .psn_and_opcode = packed(packet.psn, packet.opcode, response),
               .time = packet.time,
               .frame = packet.frame,
               .icrc = packet.icrc,
               .ip_id = packet.ip_id,
               .ttl = packet.ttl,
               .flags = static_cast<u8>((packet.has(kHasIpId) ? kRecentHasIpId : 0) |
                                        (packet.has(kHasIcrc) ? kRecentHasIcrc : 0))};
    return *victim;
  }

  /// Grows with the number of flows, within bounds, so that each keeps about as long a memory.
  void fit(std::size_t flows) {
    const std::size_t wanted = std::min<std::size_t>(std::bit_ceil(flows * 4), kMaxSets);
    if (wanted <= sets_.size()) return;
    std::vector<Set> old(wanted);
    old.swap(sets_);
    mask_ = wanted - 1;
    for (const Set& set : old)
      for (const RecentPacket& entry : set.ways)
        if (entry.flow != 0) reinsert(entry);
  }

 private:
  struct alignas(64) Set {
    std::array<RecentPacket, 2> ways;
  };
  static constexpr std::size_t kMaxSets = 1u << 18;  // 16 MiB

  static constexpr u32 packed(u32 psn, u8 opcode, bool response) {
    return psn | u32{opcode & 0x1fu} << 24 | u32{response} << 31;
  }
  static constexpr bool matches(const RecentPacket& entry, u32 psn, bool response) {
    return ((entry.psn_and_opcode ^ packed(psn, 0, response)) & 0x80ff'ffff) == 0;
  }
  void reinsert(const RecentPacket& entry) {
    Set& set =
        sets_[slot(entry.flow, entry.psn_and_opcode & 0xff'ffff, entry.psn_and_opcode >> 31)];
    RecentPacket& victim = set.ways[0].frame <= set.ways[1].frame ? set.ways[0] : set.ways[1];
    if (victim.frame < entry.frame) victim = entry;
  }

  std::vector<Set> sets_;
  std::size_t mask_;
};

/// Whether `packet` is the same transmission as `before`, captured once more: same operation, ICRC
/// and IP identification within a millisecond, and no more hops to live than before.
/// Without an IP identification that tells transmissions apart (`ids_differ`), a repeat looks the
/// same as a copy, so the time must be too short for the sender to have reacted: `reaction`
/// nanoseconds.
constexpr bool is_capture_of(const RecentPacket& before, const Observation& packet, bool ids_differ,
                             u64 reaction) {
  constexpr u64 kMillisecond = 1'000'000;
  const u64 apart = packet.time >= before.time ? packet.time - before.time : 0;
  if (apart > kMillisecond || packet.ttl > before.ttl) return false;
  if (before.opcode() != (packet.opcode & 0x1fu)) return false;
  const bool both_icrc = (before.flags & kRecentHasIcrc) && packet.has(kHasIcrc);
  if (both_icrc && before.icrc != packet.icrc) return false;
  if (ids_differ && (before.flags & kRecentHasIpId) && packet.has(kHasIpId))
    return before.ip_id == packet.ip_id;
  return apart < reaction;
}

}  // namespace roce::flow
