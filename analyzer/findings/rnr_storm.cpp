// SPDX-License-Identifier: BSD-3-Clause
// rnr.storm and rnr.timer_ignored: responders without receive buffers, and requesters that do not
// wait as long as they were told.

#include <map>

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

constexpr FindingKind kKinds[] = {
    {"rnr.storm",
     Severity::warning,
     Urgency::slow,
     "A responder that is often not ready",
     "Its application posts too few receive buffers, or too late; with a shared receive queue "
     "(SRQ) one busy connection starves the others. It is a host's problem, not the network's.",
     "RNR NAKs of one responder at more than rnr.storm.rate (10 per second), or more than "
     "rnr.storm.share (5 %) of a half-flow's time spent waiting after them.",
     "Raise the receive queue's or SRQ's size, post buffers earlier, look at the CPU load of the "
     "responder's process; its NIC counts out_of_buffer.",
     {Need::both_directions, Need::one_tap, Need::times}},
    {"rnr.timer_ignored",
     Severity::info,
     Urgency::setting,
     "Retries before the RNR timer ran out",
     "The requester does not wait as long as the responder asked it to: its retries come for "
     "nothing and use up its RNR retry count.",
     "A resend after an RNR NAK that comes sooner than the NAK's timer.",
     "Look at the requester's NIC and its firmware, and at the timer that the responder asks for "
     "(min_rnr_timer).",
     {Need::both_directions, Need::every_packet, Need::one_tap, Need::times}},
};

struct Responder {
  Sightings seen;
  u64 peers = 0;
  u64 waited = 0;   // nanoseconds, over all half-flows
  u64 lived = 0;    // of those half-flows, nanoseconds
  double most = 0;  // share of its life that one half-flow waited
  u32 worst = 0;    // that half-flow
  u64 timer = 0;    // nanoseconds
};

void judge_storms(const TraceView& trace, Findings& out) {
  std::map<u32, Responder> responders;
  trace.each_flow([&](const HalfFlow& flow) {
    const HalfFlow* answers = trace.partner(flow);
    if (!answers) return;
    const Sightings& seen = trace.log(*answers).of(Happening::rnr_nak);
    if (seen.count == 0) return;
    Responder& responder = responders[flow.key.destination];
    responder.seen.merge(seen);
    responder.peers++;
    const u64 lived = flow.last_time - std::min(flow.first_time, flow.last_time);
    const u64 waited = flow.rare_state ? flow.rare_state->rnr_wait : 0;
    responder.waited += waited;
    responder.lived += lived;
    responder.timer = std::max(responder.timer, trace.log(flow).last_rnr_timer());
    if (responder.worst == 0 || ratio(waited, lived) > responder.most) {
      responder.most = ratio(waited, lived);
      responder.worst = flow.id;
    }
  });
  for (const auto& [address, responder] : responders) {
    const u64 lasted = responder.seen.last_time - responder.seen.first_time;
    // One NAK has no rate.
    const double rate =
        responder.seen.count > 1 && lasted > 0
            ? static_cast<double>(responder.seen.count - 1) * 1e9 / static_cast<double>(lasted)
            : 0;
    if (rate <= trace.limit("rnr.storm.rate") && responder.most <= trace.limit("rnr.storm.share"))
      continue;
    const HalfFlow& worst = trace.flow(responder.worst);
    Finding finding{
        &kKinds[0], kKinds[0].severity, {Scope::Of::host, address, 0}, responder.seen, {}, {}};
    finding.half_flows = {responder.worst};
    finding.text =
        fmt::format("{} sent {} to {}{}, asking for {} of wait; {} waited {:.1f} % of its time.",
                    trace.address(address), plural(responder.seen.count, "RNR NAK", "RNR NAKs"),
                    plural(responder.peers, "queue pair", "queue pairs"),
                    rate > 0 ? fmt::format(" ({} per second)", human::count(rate)) : "",
                    human::duration(responder.timer), name_of(trace, worst), 100 * responder.most);
    finding.evidence = {{"responder", trace.address(address)},
                        {"rnr_naks", responder.seen.count},
                        {"per_second", rounded(rate, 1)},
                        {"queue_pairs", responder.peers},
                        {"timer_ns", responder.timer},
                        {"waited_ns", responder.waited},
                        {"worst_share_waited", rounded(responder.most, 4)}};
    out.found.push_back(std::move(finding));
  }
}

void judge_timers(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const u32 early = flow.rare_state ? flow.rare_state->rnr_early : 0;
    if (early == 0) return;
    Sightings seen = trace.log(flow).of(Happening::retransmission);
    seen.count = early;
    cases.push_back({flow.id, Severity::info, static_cast<double>(early), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    Told told{fmt::format("{} tried again {} before the RNR timer of {} had run out.",
                          name_of(trace, flow), plural(one.seen.count, "time", "times"),
                          human::duration(trace.log(flow).last_rnr_timer())),
              identity(trace, flow)};
    told.evidence.emplace_back("early_retries", one.seen.count);
    told.evidence.emplace_back("timer_ns", trace.log(flow).last_rnr_timer());
    return told;
  };
  report_cases(trace, kKinds[1], std::move(cases), tell, out);
}

void judge(const TraceView& trace, Findings& out) {
  judge_storms(trace, out);
  judge_timers(trace, out);
}

}  // namespace

extern const CatalogEntry kRnrStorm;
constinit const CatalogEntry kRnrStorm = {kKinds, judge};

}  // namespace rocetrace
