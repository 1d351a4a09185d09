// SPDX-License-Identifier: BSD-3-Clause
// nak.sequence, nak.slow_generation, nak.slow_reaction: responders that miss packets, and how soon
// both ends act on it.

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"nak.sequence",
     Severity::info,
     Urgency::lossy,
     "Responders that missed packets",
     "Packets were lost or overtaken in front of the responder. One NAK stands for one recovery, "
     "not for one lost packet.",
     "NAKs with code 0, PSN sequence error (IBTA vol 1, 9.7.5.2.8). Those that a responder without "
     "a "
     "buffer sends behind its RNR NAK, for the same PSN, do not count: it dropped what followed "
     "itself.",
     "See loss.retransmission for what they cost and where the packets were lost.",
     {Need::answers}},
    {"nak.slow_generation",
     Severity::warning,
     Urgency::slow,
     "NAKs that came late",
     "The responder's NIC handles missing packets slowly, in firmware or software, or the NAK "
     "waited in a queue on its way.",
     "The median from the packet after a gap to the sequence NAK is over nak.slow.warning (100 "
     "us); "
     "an error over nak.slow.error (10 ms).",
     "Compare with the usual ACK latency: if that is as long, it is the path; if not, the "
     "responder's NIC.",
     {Need::both_directions, Need::every_packet, Need::one_tap, Need::times}},
    {"nak.slow_reaction",
     Severity::warning,
     Urgency::slow,
     "Senders that answered a NAK late",
     "The requester's NIC starts its recovery slowly, or what it sends again waits behind other "
     "traffic.",
     "The median from a sequence NAK to the first packet sent again is over nak.slow.warning "
     "(100 us); an error over nak.slow.error (10 ms).",
     "Look at the requester's NIC and firmware, and at pauses that keep it from sending.",
     {Need::both_directions, Need::every_packet, Need::one_tap, Need::times}},
};

void judge_naks(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    Sightings seen = trace.log(flow).of(Happening::sequence_nak);
    const u64 of_refusal = naks_of_refusal(trace, flow);
    if (seen.count <= of_refusal) return;
    seen.count -= of_refusal;
    cases.push_back({flow.id, Severity::info, static_cast<double>(seen.count), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& answers = trace.flow(one.half_flow);
    const HalfFlow* asker = trace.partner(answers);
    const HalfFlow& named = asker ? *asker : answers;
    Told told{
        fmt::format("{} sent {} about {}.", trace.address(answers.key.source),
                    plural(one.seen.count, "sequence NAK", "sequence NAKs"), name_of(trace, named)),
        identity(trace, named)};
    told.evidence.emplace_back("naks", one.seen.count);
    if (const u64 of_refusal = naks_of_refusal(trace, answers); of_refusal > 0) {
      told.text +=
          fmt::format(" {} only behind RNR NAKs, with nothing lost.",
                      of_refusal == 1 ? "1 more came" : human::grouped(of_refusal) + " more came");
      told.evidence.emplace_back("behind_rnr_naks", of_refusal);
    }
    if (asker) told.evidence.emplace_back("request_packets", asker->requests.packets());
    return told;
  };
  report_cases(trace, kKinds[0], std::move(cases), tell, out);
}

void judge_times(const TraceView& trace, const FindingKind& kind, Times which,
                 std::string_view what, Findings& out) {
  std::vector<Case> cases;
  const auto times_of = [&](const HalfFlow& flow) -> const Histogram* {
    const Connection* connection = trace.connection(flow);
    return connection ? connection->slot(which).get() : nullptr;
  };
  trace.each_flow([&](const HalfFlow& flow) {
    const Histogram* times = times_of(flow);
    const HalfFlow* partner = trace.partner(flow);
    if (!times || !partner) return;
    // The connection's times are told of the half-flow that got the NAKs.
    const Sightings& seen = trace.log(*partner).of(Happening::sequence_nak);
    const Sightings& other = trace.log(flow).of(Happening::sequence_nak);
    if (seen.count == 0 || (other.count > seen.count) ||
        (other.count == seen.count && flow.id > partner->id))
      return;
    const auto median = static_cast<double>(times->quantile(0.5));
    if (median <= trace.limit("nak.slow.warning")) return;
    cases.push_back({flow.id,
                     median > trace.limit("nak.slow.error") ? Severity::error : Severity::warning,
                     median, seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const Quantiles q = times_of(flow)->quantiles();
    Told told{
        fmt::format("{}: {} took {} in the median, {} at the 99th percentile, {} at most "
                    "({}).",
                    name_of(trace, flow), what, human::duration(q.p50), human::duration(q.p99),
                    human::duration(q.max), plural(q.count, "case", "cases")),
        identity(trace, flow)};
    told.evidence.emplace_back("median_ns", q.p50);
    told.evidence.emplace_back("p99_ns", q.p99);
    told.evidence.emplace_back("max_ns", q.max);
    if (const Histogram* acks = trace.connection(flow)->slot(Times::ack).get())
      told.evidence.emplace_back("median_ack_latency_ns", acks->quantile(0.5));
    return told;
  };
  report_cases(trace, kind, std::move(cases), tell, out);
}

void judge(const TraceView& trace, Findings& out) {
  judge_naks(trace, out);
  judge_times(trace, kKinds[1], Times::nak_generation, "a NAK after the packet behind a gap", out);
  judge_times(trace, kKinds[2], Times::nak_reaction, "the first resend after a NAK", out);
}

}  // namespace

extern const CatalogEntry kNakSequence;
constinit const CatalogEntry kNakSequence = {kKinds, judge};

}  // namespace rocetrace
