// SPDX-License-Identifier: BSD-3-Clause
// cnp.missing: data marked by switches, and a receiver that does not tell the sender.

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/marks.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

constexpr FindingKind kKinds[] = {
    {"cnp.missing",
     Severity::warning,
     Urgency::setting,
     "CE marks that no CNP answers",
     "The receiver's NIC does not do DCQCN as notification point (or soft RoCE, which never does): "
     "the sender never slows down, queues fill, and PFC or loss follows.",
     "CE-marked data, and no CNP back to its sender within cnp.missing.wait (1 ms) or "
     "cnp.missing.intervals (10) usual CNP intervals, whichever is longer, in a capture that holds "
     "the other direction.",
     "Switch the notification point on at the receiver (roce_np/enable for the priority in use); "
     "its NIC counts np_ecn_marked_roce_packets and np_cnp_sent.",
     {Need::both_directions, Need::marks, Need::every_packet, Need::one_tap, Need::times}},
};

void judge(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  u64 unheard = 0;
  trace.each_flow([&](const HalfFlow& flow) {
    if (flow.ce_marked == 0 || flow.payload_bytes == 0 || !is_traffic(flow) ||
        is_multicast(trace, flow))
      return;
    const HalfFlow* back = trace.partner(flow);
    if (!back) {
      unheard++;
      return;
    }
    const u64 cnps = back->rare_state ? back->rare_state->cnp.packets : 0;
    const u64 interval = cnps > 1 ? back->rare_state->cnp.intervals.quantile(0.5) : 0;
    const auto wait = static_cast<u64>(
        std::max(trace.limit("cnp.missing.wait"),
                 trace.limit("cnp.missing.intervals") * static_cast<double>(interval)));
    // Those since the last CNP have nothing behind them that could answer.
    if (flow.ces_since_cnp == 0 || trace.end < flow.last_ce_time + wait) return;
    if (cnps > 0 && flow.last_time < back->rare_state->cnp.last_time + wait) return;
    const Sightings seen = marked_packets(flow, flow.ces_since_cnp);
    // A few marks at the end of a flow that is answered otherwise are no pattern.
    const Severity severity = cnps == 0 ? Severity::warning : Severity::info;
    cases.push_back({flow.id, severity, static_cast<double>(seen.count), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const HalfFlow& back = *trace.partner(flow);
    const u64 cnps = back.rare_state ? back.rare_state->cnp.packets : 0;
    Told told{fmt::format("{}: {} of {} were CE-marked, {}.", name_of(trace, flow),
                          human::grouped(flow.ce_marked), packets(flow.packets()),
                          cnps == 0 ? "and no CNP came back"
                                    : fmt::format("and none of the last {} was answered by a CNP",
                                                  human::grouped(one.seen.count))),
              identity(trace, flow)};
    told.evidence.emplace_back("ce_marked", u64{flow.ce_marked});
    told.evidence.emplace_back("ce_share", rounded(ratio(flow.ce_marked, flow.packets()), 4));
    told.evidence.emplace_back("cnps", cnps);
    return told;
  };
  report_cases(trace, kKinds[0], std::move(cases), tell, out);
  if (unheard > 0)
    out.unjudged.push_back(
        {kKinds[0].id, fmt::format("{} carried CE marks, but the direction in which their CNPs "
                                   "would come was not captured or not recognised.",
                                   plural(unheard, "half-flow", "half-flows"))});
}

}  // namespace

extern const CatalogEntry kCnpMissing;
constinit const CatalogEntry kCnpMissing = {kKinds, judge};

}  // namespace rocetrace
