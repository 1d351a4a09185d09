// SPDX-License-Identifier: BSD-3-Clause
// stall, ack.stall, stop_and_wait: time in which work waited, and by whose doing.

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"stall",
     Severity::info,
     Urgency::slow,
     "Silences with work outstanding",
     "Requests waited for their answer while nothing moved: the sender waited for a timer, or it "
     "was kept from sending (pauses, rate limits, a busy host).",
     "No packet of either direction for 10 ms or more while requests wait, ended by a resend or by "
     "a new request; a warning when one lasts stall.warning (1 s) or longer.",
     "Ended by a resend: shorten the timeout or find the loss. Ended by a new request: look at the "
     "sender's application, CPU and pause counters.",
     {Need::both_directions, Need::every_packet, Need::one_tap, Need::times}},
    {"ack.stall",
     Severity::info,
     Urgency::slow,
     "Requests that were answered late",
     "The responder took its time: its NIC or host is overloaded, or the path back is.",
     "No packet of either direction for 10 ms or more while requests wait, ended by the answer; a "
     "warning when one lasts ack.stall.warning (1 s) or longer.",
     "Look at the responder's load, at pauses towards it, and at the queues on the way back.",
     {Need::both_directions, Need::every_packet, Need::one_tap, Need::times}},
    {"stop_and_wait",
     Severity::info,
     Urgency::fact,
     "One request at a time",
     "The application waits for each message before it sends the next: its throughput is one "
     "message per round trip, however fast the link is.",
     "At least stop_and_wait.messages (64) messages, and never more than one outstanding.",
     "Post several work requests at once, or larger ones; a longer path makes it slower still.",
     {Need::both_directions, Need::every_packet, Need::one_tap}},
};

void judge_stalls(const TraceView& trace, bool by_responder, Findings& out) {
  const FindingKind& kind = kKinds[by_responder ? 1 : 0];
  const double limit = trace.limit(by_responder ? "ack.stall.warning" : "stall.warning");
  const auto count_of = [&](const Stalls& stalls) -> u64 {
    return by_responder ? stalls.ended_by_response
                        : u64{stalls.ended_by_resend} + stalls.ended_by_request;
  };
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    if (!flow.rare_state || !is_traffic(flow)) return;
    const Stalls& stalls = flow.rare_state->stalls;
    if (count_of(stalls) == 0) return;
    Sightings seen{count_of(stalls), flow.first_frame, flow.last_frame, flow.first_time,
                   flow.last_time};
    // The longest may have ended either way.
    const bool only_reason = count_of(stalls) == stalls.count;
    const bool long_one = only_reason && static_cast<double>(stalls.longest) >= limit;
    cases.push_back({flow.id, long_one ? Severity::warning : Severity::info,
                     static_cast<double>(stalls.longest), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const Stalls& stalls = flow.rare_state->stalls;
    // Silences reach to the answer.
    const HalfFlow* partner = trace.partner(flow);
    const u64 last = std::max(flow.last_time, partner ? partner->last_time : 0);
    Told told{
        fmt::format("{}: {} ended by {}; with all others {} of {}, the longest {} from {}.",
                    name_of(trace, flow), plural(one.seen.count, "silence", "silences"),
                    by_responder                                        ? "the answer"
                    : stalls.ended_by_resend >= stalls.ended_by_request ? "a resend, after a timer"
                                                                        : "a new request",
                    human::duration(stalls.total), human::duration(last - flow.first_time),
                    human::duration(stalls.longest), moment(trace, stalls.longest_from)),
        identity(trace, flow)};
    told.evidence.emplace_back("ended_by_resend", u64{stalls.ended_by_resend});
    told.evidence.emplace_back("ended_by_response", u64{stalls.ended_by_response});
    told.evidence.emplace_back("ended_by_request", u64{stalls.ended_by_request});
    told.evidence.emplace_back("longest_ns", stalls.longest);
    told.evidence.emplace_back("total_ns", stalls.total);
    return told;
  };
  report_cases(trace, kind, std::move(cases), tell, out);
}

void judge_stop_and_wait(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const u64 messages = flow.requests.messages();
    if (!is_reliable(flow) || !is_traffic(flow) || !flow.requests.acknowledged_any()) return;
    if (static_cast<double>(messages) < trace.limit("stop_and_wait.messages")) return;
    // In packets: no more than a message has, and a message of one packet is clear.
    const u64 width = flow.requests.packets() / messages + 1;
    if (flow.requests.most_outstanding > std::max<u64>(width, 1) || flow.most_reads_outstanding > 1)
      return;
    Sightings seen{messages, flow.first_frame, flow.last_frame, flow.first_time, flow.last_time};
    cases.push_back({flow.id, Severity::info, static_cast<double>(messages), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    Told told{fmt::format("{}: {}, one after the other.", name_of(trace, flow),
                          plural(one.seen.count, "message", "messages")),
              identity(trace, flow)};
    told.evidence.emplace_back("messages", one.seen.count);
    told.evidence.emplace_back("most_outstanding_psns", u64{flow.requests.most_outstanding});
    return told;
  };
  report_cases(trace, kKinds[2], std::move(cases), tell, out);
}

void judge(const TraceView& trace, Findings& out) {
  judge_stalls(trace, false, out);
  judge_stalls(trace, true, out);
  judge_stop_and_wait(trace, out);
}

}  // namespace

extern const CatalogEntry kStalls;
constinit const CatalogEntry kStalls = {kKinds, judge};

}  // namespace rocetrace
