// SPDX-License-Identifier: BSD-3-Clause
#include "findings/deaths.hpp"

#include <algorithm>

namespace rocetrace {

using roce::Psn;
using roce::flow::CmExchange;
using roce::flow::HalfFlow;

u64 disconnect_time(const TraceView& trace, const roce::flow::HalfFlowKey& key, u64 since) {
  for (const CmExchange& exchange : trace.tracker.cm().all())
    if ((exchange.forward() == key || exchange.backward() == key) &&
        exchange.disconnect_time >= std::max<u64>(since, 1))
      return exchange.disconnect_time;
  return 0;
}

std::optional<InVain> asked_in_vain(const TraceView& trace, const HalfFlow& flow, u32 least) {
  if (!is_traffic(flow) || !is_reliable(flow)) return std::nullopt;
  const FlowLog& log = trace.log(flow);
  const HalfFlow* partner = trace.partner(flow);
  InVain out;
  if (const Resending* resending = log.resending()) out.series = resending->series;
  const bool retried = out.series.resends >= least;

  // The requester that gives up at the first RNR NAK sends nothing behind it.
  const bool refused = log.last_rnr_nak() != 0 && log.last_rnr_nak() >= flow.last_time;
  if (!retried && !refused) return std::nullopt;
  const Psn stuck(retried ? out.series.psn : log.last_rnr_psn());
  if (flow.requests.acknowledged_any() && roce::distance(stuck, flow.requests.una()) > 0)
    return std::nullopt;
  // Whatever new came behind the last try is progress of some sort: the QP lives.
  out.not_ready = refused || out.series.after_rnr_nak > 0;
  // After a try that an RNR NAK asked for, one more means that the timer ran out.
  const bool timer_ran_out = out.series.resends > 1 &&
                             log.last_rnr_nak() + out.series.last_gap < out.series.seen.last_time;
  if (refused) {
    out.completion = GaveUpWith::rnr_retries;
  } else if (out.series.after_rnr_nak == 0 || timer_ran_out) {
    out.completion = GaveUpWith::transport_retries;
  }
  out.silence = trace.end - std::min(flow.last_time, trace.end);
  out.disconnected = disconnect_time(trace, flow.key, out.series.seen.last_time);
  if (partner && partner->responses.any()) out.last_answer = partner->last_time;

  // A requester that waits for a receiver waits as long as it was told, and no longer than that.
  const u64 gap = retried ? out.series.last_gap : 0;
  const u64 patience = std::max({gap, out.not_ready ? 2 * log.last_rnr_timer() : 0, u64{1'000}});
  const double silences = trace.limit("retry.exhausted.silence");
  out.gave_up = out.disconnected != 0 ||
                static_cast<double>(out.silence) > silences * static_cast<double>(patience);
  return out;
}

}  // namespace rocetrace
