// SPDX-License-Identifier: BSD-3-Clause
// Half-flows that asked in vain until they gave up, or until the trace ended. Several findings tell
// of them, each of one reason.

#pragma once

#include <algorithm>
#include <optional>

#include "findings/trace_view.hpp"

namespace rocetrace {

/// The completion that the requester's application gets.
enum class GaveUpWith : u8 {
  either,             // the trace cannot tell
  transport_retries,  // IBV_WC_RETRY_EXC_ERR
  rnr_retries         // IBV_WC_RNR_RETRY_EXC_ERR
};

struct InVain {
  ResendSeries series;     // the last; no resends when one RNR NAK was the end
  u64 silence = 0;         // from the last packet of the half-flow to the end of the trace, ns
  u64 disconnected = 0;    // time of a DREQ after the last try; 0 none
  u64 last_answer = 0;     // time of the last answer to it; 0: there was none
  bool gave_up = false;    // the silence or the DREQ says so
  bool not_ready = false;  // RNR NAKs answered the tries
  GaveUpWith completion = GaveUpWith::either;  // as far as the answers were captured
};

/// What became of `flow`, when its last tries met no progress: at least `least` resends, > 0.
std::optional<InVain> asked_in_vain(const TraceView& trace, const roce::flow::HalfFlow& flow,
                                    u32 least);

/// Resends after which retries count as used up.
inline u32 resends_of_exhausted(const TraceView& trace) {
  return std::max(static_cast<u32>(trace.limit("retry.exhausted.resends")), 1u);
}
/// Resends that make, with the first, so many tries that no answer is no accident any more.
inline u32 resends_in_vain(const TraceView& trace) {
  return std::max(static_cast<u32>(trace.limit("path.tries")), 2u) - 1;
}

/// The first DREQ of the connection whose half-flow has this key, not before `since`; 0 for none.
u64 disconnect_time(const TraceView& trace, const roce::flow::HalfFlowKey& key, u64 since);

}  // namespace rocetrace
