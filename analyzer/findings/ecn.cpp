// SPDX-License-Identifier: BSD-3-Clause
// ecn.marked, ecn.not_capable, ecn.no_ce_under_load: what switches marked, what they could not
// mark, and marks that should be there.

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/marks.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"ecn.marked",
     Severity::info,
     Urgency::slow,
     "Congestion that switches marked",
     "A queue on the path was longer than its ECN threshold. A small share is what DCQCN works "
     "with; a large one means that the senders do not slow down enough, or that too many send to "
     "the same port.",
     "CE among ECN-capable packets of a half-flow; a warning from ecn.marked.warning (5 %).",
     "Compare half-flows to the same host (incast) and of the same source port (a hot path); look "
     "at the ECN thresholds of the switches, and at the CNPs that came back.",
     {Need::marks}},
    {"ecn.not_capable",
     Severity::warning,
     Urgency::setting,
     "Data that switches cannot mark",
     "These packets carry Not-ECT while others of the trace are ECN-capable: in a full queue they "
     "are dropped instead of marked, and their sender never slows down.",
     "Data packets with ECN codepoint 00 in a trace with ECN-capable data.",
     "Set the traffic class of that application or NIC (the low two bits of ToS, 2 for ECT(0)), "
     "and switch the reaction point on (roce_rp/enable).",
     {}},
    {"ecn.no_ce_under_load",
     Severity::info,
     Urgency::setting,
     "Losses without a single mark",
     "Packets were lost though they could have been marked: ECN is not configured on the port that "
     "dropped them, its thresholds are above the buffer's size, or the loss is no congestion.",
     "Retransmissions with a place in the network (upstream, downstream) on ECN-capable data, and "
     "no CE mark in the whole trace.",
     "Look at WRED and ECN of the queue that the DSCP maps to, on every switch of the path. A tap "
     "in "
     "front of them never sees marks.",
     {Need::every_packet, Need::one_tap}},
};

bool carries_data(const HalfFlow& flow) {
  return is_traffic(flow) && flow.payload_bytes > 0;
}

void judge_marked(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const Codepoints ecn = codepoints_of(flow);
    if (ecn.ce == 0) return;
    const double share = ratio(ecn.ce, ecn.ce + ecn.capable);
    const Sightings seen = marked_packets(flow, ecn.ce);
    const bool much = carries_data(flow) && share >= trace.limit("ecn.marked.warning");
    cases.push_back({flow.id, much ? Severity::warning : Severity::info, share, seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const Codepoints ecn = codepoints_of(flow);
    Told told{
        fmt::format("{}: {} of {} ECN-capable packets were CE-marked ({}).", name_of(trace, flow),
                    human::grouped(ecn.ce), human::grouped(ecn.ce + ecn.capable),
                    human::share(ecn.ce, ecn.ce + ecn.capable)),
        identity(trace, flow)};
    told.evidence.emplace_back("ce_marked", ecn.ce);
    told.evidence.emplace_back("ecn_capable", ecn.ce + ecn.capable);
    told.evidence.emplace_back("share", rounded(one.weight, 4));
    return told;
  };
  report_cases(trace, kKinds[0], std::move(cases), tell, out);
}

void judge_capable(const TraceView& trace, Findings& out) {
  bool any_capable = false;
  trace.each_flow([&](const HalfFlow& flow) {
    const Codepoints ecn = codepoints_of(flow);
    any_capable = any_capable || (carries_data(flow) && ecn.ce + ecn.capable > 0);
  });
  if (!any_capable) return;
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const Codepoints ecn = codepoints_of(flow);
    // Which packets carry which codepoint is not kept, and answers are not data.
    if (!carries_data(flow) || ecn.not_capable <= answers_of(flow)) return;
    Sightings seen{ecn.not_capable, flow.first_frame, flow.last_frame, flow.first_time,
                   flow.last_time};
    cases.push_back({flow.id, Severity::warning, static_cast<double>(ecn.not_capable), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    Told told{fmt::format("{}: {} of {} carry Not-ECT.", name_of(trace, flow),
                          human::grouped(one.seen.count), packets(flow.packets())),
              identity(trace, flow)};
    told.evidence.emplace_back("not_ect", one.seen.count);
    told.evidence.emplace_back("packets", flow.packets());
    return told;
  };
  report_cases(trace, kKinds[1], std::move(cases), tell, out);
}

void judge_unmarked_loss(const TraceView& trace, Findings& out) {
  u64 marked = 0;
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const Codepoints ecn = codepoints_of(flow);
    marked += ecn.ce;
    const TroubleCounts counts = flow.requests.trouble_counts();
    const u64 lost = counts.by_place[static_cast<std::size_t>(Place::upstream)] +
                     counts.by_place[static_cast<std::size_t>(Place::downstream)];
    if (lost == 0 || ecn.capable == 0 || !carries_data(flow)) return;
    Sightings seen = trace.log(flow).of(Happening::retransmission);
    seen.count = lost;
    cases.push_back({flow.id, Severity::info, static_cast<double>(lost), seen});
  });
  if (marked > 0) return;
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    Told told{fmt::format("{}: {} sent again after losses, though ECN-capable, and no mark was "
                          "seen.",
                          name_of(trace, flow), packets(one.seen.count)),
              identity(trace, flow)};
    told.evidence.emplace_back("retransmissions", one.seen.count);
    return told;
  };
  report_cases(trace, kKinds[2], std::move(cases), tell, out);
}

void judge(const TraceView& trace, Findings& out) {
  judge_marked(trace, out);
  judge_capable(trace, out);
  judge_unmarked_loss(trace, out);
}

}  // namespace

extern const CatalogEntry kEcn;
constinit const CatalogEntry kEcn = {kKinds, judge};

}  // namespace rocetrace
