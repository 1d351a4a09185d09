// SPDX-License-Identifier: BSD-3-Clause
// cnp.delay, cnp.interval, cnp.per_ce: how a receiver turns CE marks into CNPs.

#include <map>

#include "findings/cases.hpp"
#include "findings/cnp_intervals.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"cnp.delay",
     Severity::warning,
     Urgency::slow,
     "CNPs that came late",
     "The receiver takes long to tell the sender of congestion: its NIC paces CNPs at a long "
     "interval or makes them in firmware, or they wait behind data on the way back.",
     "The median from the latest CE mark to the CNP is over cnp.delay.warning (100 us), at the "
     "tap: far from the receiver the path between is in it.",
     "Look at min_time_between_cnps of the receiver, and whether CNPs have a class of their own "
     "(DSCP 48, strict priority).",
     {Need::both_directions, Need::marks, Need::every_packet, Need::one_tap, Need::times}},
    {"cnp.interval",
     Severity::info,
     Urgency::fact,
     "How a NIC paces its CNPs",
     "The shortest interval between CNPs shows the NIC's pace, and at which scope it holds: for a "
     "whole port, each destination, or each queue pair. NVIDIA's default is 4 us, the DCQCN paper "
     "has 50 us.",
     "The intervals between CNPs of one NIC; the tightest scope whose shortest interval is not "
     "shorter than that of narrower ones.",
     "Compare with what was configured (min_time_between_cnps). A pace per port leaves flows of an "
     "incast unanswered.",
     {Need::every_packet, Need::one_tap, Need::times}},
    {"cnp.per_ce",
     Severity::info,
     Urgency::fact,
     "How many CE marks a CNP stands for",
     "Many marks for one CNP mean that the pace limits the CNPs: senders hear of a part of the "
     "congestion only.",
     "CE marks seen before CNPs, divided by the CNPs.",
     "See cnp.interval.",
     {Need::both_directions, Need::marks, Need::every_packet, Need::one_tap}},
};

void judge_delay(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  const auto times_of = [&](const HalfFlow& flow) -> const Histogram* {
    const Connection* connection = trace.connection(flow);
    return connection ? connection->slot(Times::ce_to_cnp).get() : nullptr;
  };
  trace.each_flow([&](const HalfFlow& flow) {
    const Histogram* times = times_of(flow);
    const HalfFlow* back = trace.partner(flow);
    // Told of the half-flow that is marked.
    if (!times || !back || flow.ce_marked == 0) return;
    const auto median = static_cast<double>(times->quantile(0.5));
    if (median <= trace.limit("cnp.delay.warning")) return;
    Sightings seen = trace.log(*back).of(Happening::cnp);
    if (seen.count == 0) return;
    cases.push_back({flow.id, Severity::warning, median, seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const Quantiles q = times_of(flow)->quantiles();
    Told told{fmt::format("{}: CNPs came {} after the latest CE mark in the median, {} at the 99th "
                          "percentile ({}).",
                          name_of(trace, flow), human::duration(q.p50), human::duration(q.p99),
                          plural(q.count, "CNP", "CNPs")),
              identity(trace, flow)};
    told.evidence.emplace_back("median_ns", q.p50);
    told.evidence.emplace_back("p99_ns", q.p99);
    return told;
  };
  report_cases(trace, kKinds[0], std::move(cases), tell, out);
}

/// The CNPs of one NIC.
struct Pace {
  Histogram by_queue_pair;
  u64 cnps = 0, ces = 0;
  u64 answered = 0;  // CNPs whose marked half-flow is known
  Sightings seen;
};

void judge_paces(const TraceView& trace, Findings& out) {
  std::map<u32, Pace> paces;  // by address id of the NIC
  trace.each_flow([&](const HalfFlow& flow) {
    if (!flow.rare_state || flow.rare_state->cnp.packets == 0) return;
    const CnpState& cnp = flow.rare_state->cnp;
    Pace& pace = paces[flow.key.source];
    pace.by_queue_pair.merge(cnp.intervals);
    pace.cnps += cnp.packets;
    if (flow.partner != 0 && cnp.ces > 0) {
      pace.ces += cnp.ces;
      pace.answered += cnp.packets;
    }
    pace.seen.merge(trace.log(flow).of(Happening::cnp));
  });
  const auto nics = cnp_intervals(trace.tracker);
  for (const auto& [address, pace] : paces) {
    const Scope scope{Scope::Of::host, address, 0};
    if (pace.by_queue_pair.count() > 0) {
      const roce::flow::CnpIntervals& intervals = nics.at(address);
      constexpr std::string_view kScopes[] = {"queue pair", "destination", "port"};
      const std::string_view fits = kScopes[static_cast<std::size_t>(intervals.fitting())];
      Finding finding{&kKinds[1], Severity::info, scope, pace.seen, {}, {}};
      finding.text = fmt::format(
          "{} sent {}: at least {} apart for a queue pair ({} in the median), {} for a "
          "destination, {} for the port. The pace holds for each {}.",
          trace.address(address), plural(pace.cnps, "CNP", "CNPs"),
          human::duration(intervals.of_queue_pair),
          human::duration(pace.by_queue_pair.quantile(0.5)),
          human::duration(intervals.of_destination), human::duration(intervals.of_port), fits);
      finding.evidence = {{"cnps", pace.cnps},
                          {"shortest_ns", intervals.of_queue_pair},
                          {"median_ns", pace.by_queue_pair.quantile(0.5)},
                          {"shortest_of_destination_ns", intervals.of_destination},
                          {"shortest_of_port_ns", intervals.of_port},
                          {"scope", std::string(fits)}};
      out.found.push_back(std::move(finding));
    }
    if (pace.ces > 0) {
      const double each = rounded(ratio(pace.ces, pace.answered), 1);
      Finding finding{&kKinds[2], Severity::info, scope, pace.seen, {}, {}};
      finding.text = fmt::format("{} answered {} with {}: {} each.", trace.address(address),
                                 plural(pace.ces, "CE mark", "CE marks"),
                                 plural(pace.answered, "CNP", "CNPs"), each);
      finding.evidence = {{"ce_marks", pace.ces}, {"cnps", pace.answered}, {"ce_per_cnp", each}};
      out.found.push_back(std::move(finding));
    }
  }
}

void judge(const TraceView& trace, Findings& out) {
  judge_delay(trace, out);
  judge_paces(trace, out);
}

}  // namespace

extern const CatalogEntry kCnpTimes;
constinit const CatalogEntry kCnpTimes = {kKinds, judge};

}  // namespace rocetrace
