// SPDX-License-Identifier: BSD-3-Clause
// cm.no_reply, cm.rejected, cm.slow, cm.disconnect_with_outstanding: connections that were not set
// up, or were closed too early, as the communication manager's messages tell.

#include <map>

#include "findings/detector.hpp"
#include "findings/words.hpp"
#include "roce/cm_message.hpp"

namespace rocetrace {
namespace {

using roce::flow::CmExchange;
using roce::flow::HalfFlow;

constexpr FindingKind kKinds[] = {
    {"cm.no_reply",
     Severity::error,
     Urgency::broken,
     "Connection requests that nobody answered",
     "The peer's connection manager did not get them or is stuck: a wrong address, a firewall, a "
     "server that has too many connections pending.",
     "A REQ without REP, REJ or MRA: sent at least twice, or older than cm.no_reply.wait (4 s) at "
     "the end of the trace.",
     "Look whether the server listens (rdma resource show cm_id) and whether its host got the REQ.",
     {Need::both_directions, Need::cm_messages, Need::every_packet, Need::one_tap, Need::times}},
    {"cm.rejected",
     Severity::error,
     Urgency::broken,
     "Connection requests that were rejected",
     "The peer refused the connection; the reason says whether nobody listens on that port, the "
     "application said no, or the two ends do not fit.",
     "A REJ of the communication manager (IBTA vol 1, 12.6.7).",
     "For 'nobody listens' check the port and that the server runs; for 'rejected by the "
     "application' read the server's log; for 'stale connection' an earlier one was not closed.",
     {Need::cm_messages}},
    {"cm.slow",
     Severity::warning,
     Urgency::slow,
     "Connections that took long to set up",
     "The server's connection manager or application is slow to accept, or messages were lost and "
     "sent again after seconds.",
     "From the first REQ to its REP longer than cm.slow.warning (1 s).",
     "Look at the server's load while it accepts, and at lost packets of queue pair 1.",
     {Need::both_directions, Need::cm_messages, Need::every_packet, Need::one_tap, Need::times}},
    {"cm.disconnect_with_outstanding",
     Severity::warning,
     Urgency::broken,
     "Connections closed with work outstanding",
     "One end disconnected while requests waited for their answer: the answer to trouble more "
     "often than its cause.",
     "A DREQ while the half-flow had requests without an answer.",
     "Read what happened before it: a timeout, a NAK, or an application that shut down.",
     {Need::both_directions, Need::cm_messages, Need::every_packet, Need::one_tap}},
};

std::string ends_of(const TraceView& trace, const CmExchange& exchange) {
  std::string text = fmt::format("{} QP {:#x} -> {}", trace.address(exchange.requester),
                                 exchange.requester_qp, trace.address(exchange.responder));
  if (exchange.ip) {
    text += fmt::format(" port {}", exchange.ip->destination_port);
  } else if (roce::is_ip_service(exchange.service_id)) {
    text += fmt::format(" port {}", exchange.service_id & 0xffff);
  } else {
    text += fmt::format(" service {:#x}", exchange.service_id);
  }
  return text;
}

Sightings seen_of(const CmExchange& exchange, u64 count) {
  return {count, exchange.first_frame, exchange.last_frame, exchange.request_time,
          exchange.last_time};
}

// One finding for all attempts of the same kind between two hosts.
struct Attempts {
  const CmExchange* first = nullptr;
  u64 attempts = 0;
  Sightings seen;
};
using ByHosts = std::map<std::tuple<u32, u32, u32>, Attempts>;  // requester, responder, reason

void note(ByHosts& all, const CmExchange& exchange, u32 reason, u64 messages) {
  Attempts& attempts = all[{exchange.requester, exchange.responder, reason}];
  if (!attempts.first) attempts.first = &exchange;
  attempts.attempts++;
  attempts.seen.merge(seen_of(exchange, std::max<u64>(messages, 1)));
}

void add(const TraceView& trace, const FindingKind& kind, const Attempts& attempts,
         std::string text, Evidence more, Findings& out) {
  const CmExchange& exchange = *attempts.first;
  Finding finding{&kind,
                  kind.severity,
                  {Scope::Of::hosts, exchange.requester, exchange.responder},
                  attempts.seen,
                  {},
                  std::move(text)};
  if (attempts.attempts > 1)
    finding.text += fmt::format(" {} between these hosts met the same.",
                                plural(attempts.attempts, "attempt", "attempts"));
  finding.evidence = {{"source", trace.address(exchange.requester)},
                      {"destination", trace.address(exchange.responder)},
                      {"source_qp", u64{exchange.requester_qp}},
                      {"service_id", exchange.service_id},
                      {"attempts", attempts.attempts}};
  for (auto& entry : more) finding.evidence.push_back(std::move(entry));
  out.found.push_back(std::move(finding));
}

void judge_answers(const TraceView& trace, Findings& out) {
  // A REQ is sent again after about as long.
  const auto patience = static_cast<u64>(trace.limit("cm.no_reply.wait"));
  ByHosts unanswered, rejected, slow;
  bool any_answer = false;
  const auto limit = static_cast<u64>(trace.limit("cm.slow.warning"));
  for (const CmExchange& exchange : trace.tracker.cm().all())
    any_answer = any_answer || exchange.reply_time != 0 || exchange.delays > 0;
  for (const CmExchange& exchange : trace.tracker.cm().all()) {
    if (exchange.request_time == 0 || exchange.requests == 0) continue;
    const bool waiting = exchange.reply_time == 0 && exchange.delays == 0;
    if (waiting && (exchange.requests > 1 || trace.end > exchange.request_time + patience))
      note(unanswered, exchange, 0, exchange.requests);
    if (exchange.rejects > 0) note(rejected, exchange, exchange.reject_code, exchange.rejects);
    if (exchange.replies > 0 && exchange.reply_time > exchange.request_time + limit)
      note(slow, exchange, 0, exchange.requests);
  }
  for (const auto& [key, attempts] : unanswered)
    add(trace, kKinds[0], attempts,
        fmt::format("{}: {} sent, and no answer.{}", ends_of(trace, *attempts.first),
                    plural(attempts.seen.count, "REQ", "REQs"),
                    any_answer ? "" : " (No answer to anybody was seen in this capture.)"),
        {}, out);
  for (const auto& [key, attempts] : rejected) {
    const CmExchange& exchange = *attempts.first;
    const std::string_view reason = roce::reject_reason(exchange.reject_code);
    const u32 by = exchange.rejected_by_requester ? exchange.requester : exchange.responder;
    add(trace, kKinds[1], attempts,
        fmt::format("{}: {} rejected the connection, reason {}: {}.", ends_of(trace, exchange),
                    trace.address(by), exchange.reject_code,
                    reason.empty() ? "a reserved code" : reason),
        {{"reason_code", u64{exchange.reject_code}},
         {"reason", std::string(reason)},
         {"rejected_by", trace.address(by)}},
        out);
  }
  for (const auto& [key, attempts] : slow) {
    const CmExchange& exchange = *attempts.first;
    const u64 took = exchange.reply_time - exchange.request_time;
    add(trace, kKinds[2], attempts,
        fmt::format("{}: the REP came {} after the REQ ({}).", ends_of(trace, exchange),
                    human::duration(took), plural(exchange.requests, "REQ", "REQs")),
        {{"reply_ns", took}}, out);
  }
}

void judge_disconnects(const TraceView& trace, Findings& out) {
  ByHosts early;
  for (const CmExchange& exchange : trace.tracker.cm().all()) {
    if (exchange.disconnect_time == 0) continue;
    for (const auto& key : {exchange.forward(), exchange.backward()}) {
      const u32 id = trace.tracker.flows().find(key, hash(key));
      if (id == 0) continue;
      const HalfFlow& flow = trace.flow(id);
      // Answers have to have been captured for their lack to mean anything.
      if (!is_reliable(flow) || flow.waiting.empty() || !flow.requests.acknowledged_any()) continue;
      note(early, exchange, 0, flow.waiting.size());
    }
  }
  for (const auto& [key, attempts] : early)
    add(trace, kKinds[3], attempts,
        fmt::format("{}: closed {} with {} not answered.", ends_of(trace, *attempts.first),
                    moment(trace, attempts.first->disconnect_time),
                    plural(attempts.seen.count, "message", "messages")),
        {}, out);
}

void judge(const TraceView& trace, Findings& out) {
  judge_answers(trace, out);
  judge_disconnects(trace, out);
}

}  // namespace

extern const CatalogEntry kCm;
constinit const CatalogEntry kCm = {kKinds, judge};

}  // namespace rocetrace
