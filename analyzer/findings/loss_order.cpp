// SPDX-License-Identifier: BSD-3-Clause
// loss.reordering and loss.unrecovered: packets that came late, and gaps that nobody filled.

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"loss.reordering",
     Severity::info,
     Urgency::slow,
     "Packets in another order than sent",
     "Several paths are in use for one flow: packet spraying, adaptive routing, a link aggregate "
     "that changed. NICs that take packets in order only answer with NAKs, as if they were lost.",
     "Packets that fill a gap within 1 ms or two round trips, with no NAK of it and nothing sent "
     "again around it; a warning from loss.reordering.warning (0.1 %) of a half-flow.",
     "If the NICs support out-of-order placement or selective repeat, switch it on; if not, keep "
     "each flow on one path.",
     {Need::every_packet, Need::one_tap, Need::times}},
    {"loss.unrecovered",
     Severity::error,
     Urgency::dead,
     "Gaps that nobody filled",
     "Packets are missing, the responder never acknowledged anything behind them, and the sender "
     "did not send them again: the queue pair died, or the capture lost both.",
     "A gap of a reliable half-flow that is open for longer than loss.unrecovered.wait (100 ms) at "
     "the end of the trace, with the answers captured.",
     "Look for the end of the queue pair: an error completion at the sender.",
     {Need::both_directions, Need::every_packet, Need::one_tap, Need::times}},
};

void judge_order(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const u64 requests = flow.requests.trouble_counts().reordered;
    const ResponseGaps* gaps = flow.responses.gaps();
    const u64 count = requests + (gaps ? gaps->reordered : 0);
    if (count == 0) return;
    const double share = ratio(count, flow.packets());
    Sightings seen = trace.log(flow).of(Happening::reordered);
    if (seen.count == 0) seen.merge(trace.log(flow).of(Happening::response_gap));
    seen.count = count;
    cases.push_back(
        {flow.id,
         share >= trace.limit("loss.reordering.warning") ? Severity::warning : Severity::info,
         share, seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const TroubleCounts counts = flow.requests.trouble_counts();
    Told told{fmt::format("{}: {} of {} came late.", name_of(trace, flow),
                          human::grouped(one.seen.count), packets(flow.packets())),
              identity(trace, flow)};
    told.evidence.emplace_back("reordered", one.seen.count);
    told.evidence.emplace_back("share", rounded(one.weight, 6));
    if (counts.latest_psns > 0) {
      told.text += fmt::format(" The latest came {} and {} after its successor.",
                               plural(counts.latest_psns, "packet", "packets"),
                               human::duration(counts.latest_time));
      told.evidence.emplace_back("largest_distance_psns", u64{counts.latest_psns});
      told.evidence.emplace_back("largest_distance_ns", counts.latest_time);
    }
    return told;
  };
  report_cases(trace, kKinds[0], std::move(cases), tell, out);
}

void judge_unrecovered(const TraceView& trace, Findings& out) {
  const auto wait = static_cast<u64>(trace.limit("loss.unrecovered.wait"));
  std::vector<Case> cases;
  u64 unheard = 0;
  trace.each_flow([&](const HalfFlow& flow) {
    const Recovery* recovery = flow.requests.recovery();
    if (!recovery || !is_reliable(flow)) return;
    Sightings seen;
    for (const Hole& hole : recovery->holes)
      if (hole.opened + wait < trace.end) seen.add(hole.opened_frame, hole.opened, hole.count);
    if (seen.count == 0) return;
    const HalfFlow* partner = trace.partner(flow);
    if (!partner || !partner->responses.any()) {
      unheard++;
      return;
    }
    cases.push_back({flow.id, Severity::error, static_cast<double>(seen.count), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    Told told{fmt::format("{}: {} missing since {}, neither sent again nor acknowledged.",
                          name_of(trace, flow), packets(one.seen.count),
                          moment(trace, one.seen.first_time)),
              identity(trace, flow)};
    told.evidence.emplace_back("missing_psns", one.seen.count);
    return told;
  };
  report_cases(trace, kKinds[1], std::move(cases), tell, out);
  if (unheard > 0)
    out.unjudged.push_back(
        {kKinds[1].id, fmt::format("{} gaps that were never filled, but without the answers a loss "
                                   "of the capture looks the same.",
                                   unheard == 1 ? "1 half-flow has"
                                                : human::grouped(unheard) + " half-flows have")});
}

void judge(const TraceView& trace, Findings& out) {
  judge_order(trace, out);
  judge_unrecovered(trace, out);
}

}  // namespace

extern const CatalogEntry kLossOrder;
constinit const CatalogEntry kLossOrder = {kKinds, judge};

}  // namespace rocetrace
