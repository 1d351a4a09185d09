// SPDX-License-Identifier: BSD-3-Clause
// How many PSNs a READ request takes: as many as its responses will, ceil(length / path MTU)
// (IBTA 9.7.3.1). The MTU is not in the request, so it is learnt from the traffic: from the payload
// of First and Middle packets of either direction, or from the PSN that follows a READ.

#pragma once

#include <bit>
#include <utility>

#include "roce/flow/half_flow.hpp"

namespace roce::flow {

inline constexpr u32 kMostReadWidth = 1u << 22;

constexpr u32 packets_of(u32 length, u32 mtu) {
  return length == 0 ? 1 : static_cast<u32>((u64{length} + mtu - 1) / mtu);
}
static_assert(packets_of(0, 1024) == 1 && packets_of(4097, 1024) == 5);

/// With the MTU unknown, the fewest it can be.
inline u32 read_width(const HalfFlow& flow, const Observation& packet) {
  const u32 mtu = flow.requests.path_mtu != 0 ? flow.requests.path_mtu : 4096;
  return std::min(packets_of(packet.dma_length, mtu), kMostReadWidth);
}

/// Where the READ whose width was open ends.
inline void settle_open_read(HalfFlow& flow, Psn end) {
  flow.read_open = false;
  flow.requests.correct_next(end);
  if (!flow.waiting.empty() && flow.waiting.back().first == flow.open_read)
    flow.waiting.back().end = end;
}

/// `psn` is the next request's: it says how many PSNs the READ before took, if that can be.
inline void close_open_read(HalfFlow& flow, Psn psn) {
  flow.read_open = false;
  const u32 length = flow.open_read_length;
  const i32 width = distance(flow.open_read, psn);
  if (width <= 0) return;
  u32 fitting = 0;
  for (u32 i = 0; i < 5; i++)
    if (packets_of(length, 256u << i) == static_cast<u32>(width)) fitting |= 1u << i;
  fitting &= flow.mtu_candidates;
  const auto widest = static_cast<i32>(std::min(packets_of(length, 256), kMostReadWidth));
  if (fitting == 0 && width > widest) return;
  settle_open_read(flow, psn);
  if (fitting == 0) return;
  flow.mtu_candidates = static_cast<u8>(fitting);
  if (std::has_single_bit(fitting))
    flow.requests.path_mtu = static_cast<u16>(256u << std::countr_zero(fitting));
}

inline void set_mtu(HalfFlow& flow, u16 mtu) {
  flow.requests.path_mtu = mtu;
  if (flow.read_open)
    settle_open_read(
        flow, flow.open_read + std::min(packets_of(flow.open_read_length, mtu), kMostReadWidth));
}

/// The path MTU that a First or Middle packet of `size` bytes proves (IBTA 9.4); 0 if none.
constexpr u16 proven_mtu(u32 size) {
  return size >= 256 && size <= 4096 && std::has_single_bit(size) ? static_cast<u16>(size) : u16{0};
}

}  // namespace roce::flow
