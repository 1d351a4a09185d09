// SPDX-License-Identifier: BSD-3-Clause
// path.mtu_mismatch and path.mtu_blackhole: ends that disagree on the size of packets, and paths
// that do not carry what both agreed on.

#include <map>

#include "findings/cases.hpp"
#include "findings/deaths.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"path.mtu_mismatch",
     Severity::error,
     Urgency::broken,
     "Path MTUs that differ",
     "The two ends of the connection cut messages into packets of different size. A responder "
     "answers a First or Middle packet that is not its path MTU with NAK \"invalid request\", or "
     "its application sees local length errors.",
     "First or Middle packets of different sizes on one connection: by direction, or in one.",
     "Set the same path MTU at both ends (NCCL_IB_MTU, or the same interface MTU): the smaller of "
     "the two active MTUs.",
     {Need::one_tap}},
    {"path.mtu_blackhole",
     Severity::error,
     Urgency::broken,
     "Large packets that never arrive",
     "Some link on the path has a smaller MTU than the queue pair: RoCE packets are not "
     "fragmented, "
     "so everything larger is dropped, without a word.",
     "A requester tried the first packet of full size of its connection path.tries (3) times or "
     "more in vain, while smaller ones were answered, and no packet of that size was ever "
     "acknowledged between these hosts.",
     "Check the MTU of every link and VLAN on the path (ping -M do -s SIZE); the interface needs "
     "the path MTU plus headers: 4096 fits into 4200 and more, 1024 into 1500.",
     {Need::both_directions, Need::every_packet, Need::one_tap}},
};

u64 pair_of(const HalfFlow& flow) {
  return u64{flow.key.source} << 32 | flow.key.destination;
}

void judge_mismatch(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    if (!flow.rare_state || flow.rare_state->breaches.mtu_changes == 0) return;
    const HalfFlow* back = trace.partner(flow);
    const u32 other = back && back->rare_state ? back->rare_state->breaches.mtu_changes : 0;
    // Both see the change when sizes differ by direction; it is told once.
    if (other > 0 && back->id < flow.id) return;
    const Breaches& breaches = flow.rare_state->breaches;
    cases.push_back({flow.id,
                     Severity::error,
                     static_cast<double>(breaches.mtu_changes),
                     {breaches.mtu_changes, breaches.first_frame, flow.last_frame, flow.first_time,
                      flow.last_time}});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const Breaches& breaches = flow.rare_state->breaches;
    Told told{fmt::format("{}: First and Middle packets of {} bytes this way, and of {} before or "
                          "the other way, from frame {}.",
                          name_of(trace, flow), breaches.mtu_now, breaches.mtu_before,
                          breaches.first_frame),
              identity(trace, flow)};
    told.evidence.emplace_back("mtu", u64{breaches.mtu_now});
    told.evidence.emplace_back("other_mtu", u64{breaches.mtu_before});
    const HalfFlow* back = trace.partner(flow);
    const Sightings& refused = trace.log(back ? *back : flow).of(Happening::invalid_request_nak);
    if (refused.count > 0) {
      told.text += fmt::format(" The responder refused it in frame {}.", refused.first_frame);
      told.evidence.emplace_back("nak_frame", refused.first_frame);
    }
    return told;
  };
  report_cases(trace, kKinds[0], std::move(cases), tell, out);
}

void judge_blackhole(const TraceView& trace, Findings& out) {
  std::map<u64, bool> large_passed, anything_back;  // by hosts
  trace.each_flow([&](const HalfFlow& flow) {
    anything_back[pair_of(flow)] = true;
    if (!flow.rare_state || !flow.requests.acknowledged_any()) return;
    const Breaches& breaches = flow.rare_state->breaches;
    if (breaches.has_full_size && roce::distance(breaches.first_full_size, flow.requests.una()) > 0)
      large_passed[pair_of(flow)] = true;
  });
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const auto vain = asked_in_vain(trace, flow, resends_in_vain(trace));
    if (!vain || vain->series.resends == 0 || vain->not_ready || !flow.rare_state) return;
    const Breaches& breaches = flow.rare_state->breaches;
    if (!breaches.has_full_size || breaches.first_full_size != roce::Psn(vain->series.psn)) return;
    const u64 back = u64{flow.key.destination} << 32 | flow.key.source;
    if (large_passed.contains(pair_of(flow)) || !anything_back.contains(back)) return;
    cases.push_back(
        {flow.id, Severity::error, static_cast<double>(vain->series.wire_size), vain->series.seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const InVain vain = *asked_in_vain(trace, flow, resends_in_vain(trace));
    Told told{
        fmt::format("{}: its first packet of full size (PSN {}, a frame of {} bytes) was sent "
                    "{} and never acknowledged, while smaller packets were answered.",
                    name_of(trace, flow), vain.series.psn, vain.series.wire_size,
                    plural(u64{vain.series.resends} + 1, "time", "times")),
        identity(trace, flow)};
    told.evidence.emplace_back("psn", u64{vain.series.psn});
    told.evidence.emplace_back("wire_size", u64{vain.series.wire_size});
    told.evidence.emplace_back("path_mtu", u64{flow.requests.path_mtu});
    return told;
  };
  report_cases(trace, kKinds[1], std::move(cases), tell, out);
}

void judge(const TraceView& trace, Findings& out) {
  judge_mismatch(trace, out);
  judge_blackhole(trace, out);
}

}  // namespace

extern const CatalogEntry kPathMtu;
constinit const CatalogEntry kPathMtu = {kKinds, judge};

}  // namespace rocetrace
