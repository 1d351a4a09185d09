// SPDX-License-Identifier: BSD-3-Clause
// What class the traffic is in: dscp.unmarked, dscp.mixed, dscp.asymmetric, dscp.pcp_disagree,
// loss.in_lossless_class.

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/marks.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"dscp.unmarked",
     Severity::info,
     Urgency::setting,
     "Data without a class",
     "The data carries DSCP 0, which switches put into the default, lossy class: PFC does not "
     "protect it, and its ECN settings may be others. Often the application sets no traffic class, "
     "or a setting was lost at a reboot.",
     "All data packets of a half-flow have DSCP 0; a warning when other data in the trace is "
     "marked.",
     "Set the traffic class of the application (NCCL_IB_TC=106 is DSCP 26 with ECT(0)) or the "
     "default of the NIC (cma_roce_tos, traffic_class), and check trust mode dscp on the ports.",
     {}},
    {"dscp.mixed",
     Severity::warning,
     Urgency::setting,
     "One half-flow in several classes",
     "Packets of one queue pair carry different DSCPs: they travel in different queues and can "
     "overtake each other. A device on the path rewrites some, or the queue pair was changed while "
     "it ran.",
     "More than one DSCP among the requests and READ responses of a half-flow, each at least 1 % "
     "of them.",
     "Find the hop that rewrites: capture at both ends and compare.",
     {}},
    {"dscp.asymmetric",
     Severity::info,
     Urgency::setting,
     "Two directions in different classes",
     "One direction of the connection carries another DSCP than the other: the traffic class was "
     "set at one end only, so that answers, or the other end's data, go through the lossy class.",
     "The usual DSCP of the two half-flows of a connection differs; a warning when both carry "
     "data.",
     "Set the traffic class at both ends.",
     {Need::both_directions}},
    {"dscp.pcp_disagree",
     Severity::warning,
     Urgency::setting,
     "DSCP and VLAN priority disagree",
     "Packets with the same DSCP carry different priorities in their VLAN tags. Switches that "
     "trust "
     "one treat them unlike those that trust the other: lossless on one hop and lossy on the next.",
     "One DSCP with two or more PCPs in the trace, each on at least 1 % of its tagged packets.",
     "Map DSCP to PCP alike on all NICs and switches, and trust the same field everywhere.",
     {Need::vlan_tags}},
    {"loss.in_lossless_class",
     Severity::error,
     Urgency::lossy,
     "Losses in a lossless class",
     "Where PFC works nothing is dropped for lack of buffers, so one lost packet means: PFC is off "
     "on some hop or priority, its buffers have no headroom, a PFC watchdog drops, or bits are "
     "damaged.",
     "A sequence NAK, or a retransmission with a place in the network, on a half-flow whose DSCP "
     "was given with --lossless-dscp.",
     "Walk the path hop by hop: PFC enabled for that priority, DSCP mapped to it, drops and "
     "watchdog counters of that queue.",
     {Need::lossless_class, Need::every_packet, Need::one_tap}},
};
enum : std::size_t { kUnmarked, kMixed, kAsymmetric, kPcp, kLossless };

Case whole_flow(const HalfFlow& flow, Severity severity, double weight, u64 count) {
  return {flow.id,
          severity,
          weight,
          {count, flow.first_frame, flow.last_frame, flow.first_time, flow.last_time}};
}

bool carries_data(const HalfFlow& flow) {
  return is_traffic(flow) && flow.payload_bytes > 0;
}

void judge_unmarked(const TraceView& trace, Findings& out) {
  bool any_marked = false;
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    if (!carries_data(flow)) return;
    const auto dscps = data_dscps_of(flow);
    const bool unmarked = dscps.size() == 1 && dscps.contains(0);
    any_marked = any_marked || (!dscps.empty() && dscps.rbegin()->first != 0);
    if (unmarked)
      cases.push_back(whole_flow(flow, Severity::info, static_cast<double>(flow.payload_bytes),
                                 flow.packets()));
  });
  if (any_marked)
    for (Case& one : cases) one.severity = Severity::warning;
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    Told told{fmt::format("{}: {} DSCP 0{}.", name_of(trace, flow),
                          flow.packets() == 1 ? "its one packet carries"
                                              : "all " + packets(flow.packets()) + " carry",
                          any_marked ? ", while other data here is marked" : ""),
              identity(trace, flow)};
    told.evidence.emplace_back("packets", flow.packets());
    return told;
  };
  report_cases(trace, kKinds[kUnmarked], std::move(cases), tell, out);
}

std::string list_of(const std::map<u8, u64>& counts) {
  std::string text;
  for (const auto& [value, count] : counts)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", value, human::grouped(count));
  return text;
}

void judge_mixed(const TraceView& trace, Findings& out) {
  const auto notable = [](const HalfFlow& flow) {
    auto dscps = data_dscps_of(flow);
    u64 all = 0;
    for (const auto& [dscp, count] : dscps) all += count;
    std::erase_if(dscps, [&](const auto& entry) { return entry.second * 100 < all; });
    return dscps;
  };
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    if (!carries_data(flow)) return;
    const auto dscps = notable(flow);
    if (dscps.size() > 1)
      cases.push_back(
          whole_flow(flow, Severity::warning, static_cast<double>(dscps.size()), flow.packets()));
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const auto dscps = notable(flow);
    Told told{fmt::format("{}: packets by DSCP: {}.", name_of(trace, flow), list_of(dscps)),
              identity(trace, flow)};
    told.evidence.emplace_back("dscps", list_of(dscps));
    return told;
  };
  report_cases(trace, kKinds[kMixed], std::move(cases), tell, out);
}

void judge_asymmetric(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const HalfFlow* back = trace.partner(flow);
    if (!back || back->id < flow.id || !is_traffic(flow)) return;
    // A direction of CNPs alone says nothing.
    if (back->packets() == (back->rare_state ? back->rare_state->cnp.packets : 0)) return;
    const auto one = usual_dscp(flow), other = usual_dscp(*back);
    if (!one || !other || *one == *other) return;
    const bool both = flow.payload_bytes > 0 && back->payload_bytes > 0;
    cases.push_back(whole_flow(flow, both ? Severity::warning : Severity::info,
                               static_cast<double>(flow.payload_bytes + back->payload_bytes),
                               flow.packets() + back->packets()));
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const HalfFlow& back = *trace.partner(flow);
    Told told{fmt::format("{}: DSCP {} this way and {} back.", name_of(trace, flow),
                          *usual_dscp(flow), *usual_dscp(back)),
              identity(trace, flow)};
    told.evidence.emplace_back("dscp_back", u64{*usual_dscp(back)});
    return told;
  };
  report_cases(trace, kKinds[kAsymmetric], std::move(cases), tell, out);
}

void judge_pcp(const TraceView& trace, Findings& out) {
  struct Seen {
    std::map<u8, u64> pcps;  // packets
    Sightings seen;
  };
  std::map<u8, Seen> by_dscp;
  trace.each_flow([&](const HalfFlow& flow) {
    if (!is_traffic(flow) || !flow.rare_state) return;
    std::map<u8, u64> pcps;
    for (const auto& vlan : flow.rare_state->vlans)
      pcps[static_cast<u8>(vlan.value >> 13)] += vlan.count;
    const auto dscps = dscps_of(flow);
    // With several of both on one half-flow it is not known which go together.
    if (pcps.empty() || (pcps.size() > 1 && dscps.size() > 1)) return;
    for (const auto& [dscp, count] : dscps)
      for (const auto& [pcp, tagged] : pcps) {
        by_dscp[dscp].pcps[pcp] += std::min(count, tagged);
        by_dscp[dscp].seen.merge(
            {1, flow.first_frame, flow.last_frame, flow.first_time, flow.last_time});
      }
  });
  for (auto& [dscp, found] : by_dscp) {
    auto& pcps = found.pcps;
    u64 all = 0;
    for (const auto& [pcp, count] : pcps) all += count;
    std::erase_if(pcps, [&](const auto& entry) { return entry.second * 100 < all; });
    if (pcps.size() < 2) continue;
    Finding finding{
        &kKinds[kPcp], Severity::warning, {Scope::Of::capture, 0, 0}, found.seen, {}, {}};
    finding.seen.count = all;
    finding.text = fmt::format("Packets with DSCP {} carry these PCPs: {}.", dscp, list_of(pcps));
    finding.evidence = {{"dscp", u64{dscp}}, {"pcps", list_of(pcps)}};
    out.found.push_back(std::move(finding));
  }
}

void judge_lossless(const TraceView& trace, Findings& out) {
  const auto& classes = trace.circumstances.lossless_dscps;
  if (classes.empty()) return;
  const auto lost_of = [&](const HalfFlow& flow) {
    const TroubleCounts counts = flow.requests.trouble_counts();
    return counts.by_place[static_cast<std::size_t>(Place::upstream)] +
           counts.by_place[static_cast<std::size_t>(Place::downstream)] +
           counts.by_place[static_cast<std::size_t>(Place::response)];
  };
  const auto naks_of = [&](const HalfFlow& flow) -> u64 {
    const HalfFlow* back = trace.partner(flow);
    const u64 naks = back && back->rare_state ? back->rare_state->naks[0] : 0;
    return back ? naks - std::min(naks, naks_of_refusal(trace, *back)) : 0;
  };
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const auto dscp = usual_dscp(flow);
    if (!dscp || !is_traffic(flow) || std::ranges::count(classes, *dscp) == 0) return;
    const u64 lost = lost_of(flow), naks = naks_of(flow);
    if (lost + naks == 0) return;
    Sightings seen = trace.log(flow).of(Happening::retransmission);
    if (const HalfFlow* back = trace.partner(flow); back && seen.count == 0)
      seen = trace.log(*back).of(Happening::sequence_nak);
    seen.count = std::max(lost, naks);
    cases.push_back({flow.id, Severity::error, static_cast<double>(seen.count), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    Told told{
        fmt::format("{}: {} and {} sent again after a loss, in a class that was said to be "
                    "lossless.",
                    name_of(trace, flow), plural(naks_of(flow), "sequence NAK", "sequence NAKs"),
                    packets(lost_of(flow))),
        identity(trace, flow)};
    told.evidence.emplace_back("naks", naks_of(flow));
    told.evidence.emplace_back("retransmissions", lost_of(flow));
    return told;
  };
  report_cases(trace, kKinds[kLossless], std::move(cases), tell, out);
}

void judge(const TraceView& trace, Findings& out) {
  judge_unmarked(trace, out);
  judge_mixed(trace, out);
  judge_asymmetric(trace, out);
  judge_pcp(trace, out);
  judge_lossless(trace, out);
}

}  // namespace

extern const CatalogEntry kDscp;
constinit const CatalogEntry kDscp = {kKinds, judge};

}  // namespace rocetrace
