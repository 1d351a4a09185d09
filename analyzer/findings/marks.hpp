// SPDX-License-Identifier: BSD-3-Clause
// What the IP headers of a half-flow's packets say, added up.

#pragma once

#include <algorithm>
#include <map>

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

/// Packets by DSCP.
inline std::map<u8, u64> dscps_of(const roce::flow::HalfFlow& flow) {
  std::map<u8, u64> out;
  if (flow.rare_state)
    for (const auto& tos : flow.rare_state->tos) out[static_cast<u8>(tos.value >> 2)] += tos.count;
  return out;
}

}  // namespace rocetrace
