// SPDX-License-Identifier: BSD-3-Clause
// What the IP headers of a half-flow's packets say, added up.

#pragma once

#include <algorithm>
#include <map>

#include "findings/finding.hpp"
#include "roce/flow/half_flow.hpp"

namespace rocetrace {

using roce::u64;
using roce::u8;

/// Packets by ECN codepoint. The tracker counts a CE mark under the codepoint that was last seen
/// without one, so that is taken off again.
struct Codepoints {
  u64 not_capable = 0;
  u64 capable = 0;  // ECT(0) and ECT(1)
  u64 ce = 0;
};

inline Codepoints codepoints_of(const roce::flow::HalfFlow& flow) {
  Codepoints out;
  out.ce = flow.ce_marked;
  if (!flow.rare_state) return out;
  for (const auto& tos : flow.rare_state->tos)
    ((tos.value & 3) == 0 ? out.not_capable : out.capable) += tos.count;
  u64 marked = out.ce;
  const u64 taken = std::min(marked, out.capable);
  out.capable -= taken;
  marked -= taken;
  out.not_capable -= std::min(marked, out.not_capable);
  return out;
}

/// Where `count` CE marks of a half-flow were seen.
inline Sightings marked_packets(const roce::flow::HalfFlow& flow, u64 count) {
  const roce::flow::RareState& rare = *flow.rare_state;
  return {count, rare.first_ce_frame, rare.last_ce_frame, rare.first_ce_time, flow.last_ce_time};
}

/// Packets of a half-flow that are no data, and may carry marks of their own: acknowledgements, and
/// CNPs.
inline u64 answers_of(const roce::flow::HalfFlow& flow) {
  u64 count = flow.responses.counts().acks;
  if (!flow.rare_state) return count;
  const roce::flow::RareState& rare = *flow.rare_state;
  for (const roce::u32 naks : rare.naks) count += naks;
  return count + rare.rnr_naks + rare.cnp.packets;
}

/// Packets that it sent again for another reason than that the responder had no buffer for them.
inline u64 resent_for_loss(const roce::flow::TroubleCounts& counts) {
  const u64 not_ready = counts.by_place[static_cast<std::size_t>(roce::flow::Place::not_ready)];
  return counts.retransmissions - std::min(not_ready, counts.retransmissions);
}

/// Packets by DSCP.
inline std::map<u8, u64> dscps_of(const roce::flow::HalfFlow& flow) {
  std::map<u8, u64> out;
  if (flow.rare_state)
    for (const auto& tos : flow.rare_state->tos) out[static_cast<u8>(tos.value >> 2)] += tos.count;
  return out;
}

/// The same without a DSCP that its CNPs alone may have carried.
inline std::map<u8, u64> data_dscps_of(const roce::flow::HalfFlow& flow) {
  auto out = dscps_of(flow);
  const u64 cnps = flow.rare_state ? flow.rare_state->cnp.packets : 0;
  if (out.size() > 1) std::erase_if(out, [&](const auto& entry) { return entry.second <= cnps; });
  return out;
}

}  // namespace rocetrace
