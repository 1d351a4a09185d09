// SPDX-License-Identifier: BSD-3-Clause
// timeout.series and retransmission.spurious: which timer makes a sender repeat itself, and whether
// it need have.

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"timeout.series",
     Severity::info,
     Urgency::slow,
     "The timer behind repeated resends",
     "The waits between resends of one packet show the sender's timer: constant and at least "
     "4.096 us * 2^n is the timer of the specification; growing waits are a NIC's own adaptive "
     "retransmission, which does not follow the queue pair's timeout.",
     "At least two resends of one PSN without a NAK: class ib_spec when the waits differ by less "
     "than a quarter, adaptive when each is longer than the one before.",
     "Compare the wait with the round trip: shorter means needless resends (see "
     "retransmission.spurious), much longer means slow recovery. The timeout is the queue pair's "
     "attribute (NCCL_IB_TIMEOUT, ibv_modify_qp); adaptive retransmission a NIC setting "
     "(roce_adp_retrans).",
     {Need::every_packet, Need::one_tap, Need::times}},
    {"retransmission.spurious",
     Severity::warning,
     Urgency::slow,
     "Packets sent again needlessly",
     "The acknowledgement was on its way, or even there: the sender's timer is shorter than the "
     "round trip, or it does not see its ACKs. It wastes the link and can double the load.",
     "Retransmissions that begin at a PSN whose ACK had passed the tap: spurious.warning (1 %) of "
     "all retransmissions or more.",
     "Raise the timeout above the longest round trip, or switch adaptive retransmission off "
     "(mlxreg ROCE_ACCEL, roce_adp_retrans).",
     {Need::both_directions, Need::every_packet, Need::one_tap}},
};

struct Waits {
  std::vector<u64> gaps;
  std::string_view timer;  // ib_spec, adaptive; empty: neither
  unsigned exponent = 0;   // of the nearest 4.096 us * 2^n
};

std::optional<Waits> waits_of(const ResendSeries& series) {
  // With NAKs between them resends keep no timer.
  if (series.resends < 2 || series.after_rnr_nak + series.after_sequence_nak > 0)
    return std::nullopt;
  Waits waits;
  for (std::size_t i = 1; i < series.kept(); i++)
    waits.gaps.push_back(series.times[i] - std::min(series.times[i - 1], series.times[i]));
  const u64 least = std::ranges::min(waits.gaps), most = std::ranges::max(waits.gaps);
  if (least == 0) return std::nullopt;
  if (most - least <= most / 4) {
    waits.timer = "ib_spec";
  } else if (waits.gaps.size() > 1 &&
             std::ranges::is_sorted(waits.gaps, std::ranges::less_equal{})) {
    waits.timer = "adaptive";
  }
  // The real timer is between one and four times the nominal one (IBTA 9.7.6.1.3).
  while (waits.exponent < 31 && (u64{4096} << (waits.exponent + 1)) <= least) waits.exponent++;
  return waits;
}

void judge_series(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  const auto series_of = [&](const HalfFlow& flow) -> const ResendSeries* {
    const Resending* resending = trace.log(flow).resending();
    return resending ? &resending->longest : nullptr;
  };
  trace.each_flow([&](const HalfFlow& flow) {
    const ResendSeries* series = series_of(flow);
    const HalfFlow* partner = trace.partner(flow);
    if (!series || !is_reliable(flow) || !waits_of(*series)) return;
    // Unheard NAKs may be behind them.
    if (!partner && flow.requests.trouble_counts().by_cause[6] == 0) return;
    cases.push_back({flow.id, Severity::info, static_cast<double>(series->resends), series->seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const ResendSeries& series = *series_of(flow);
    const Waits waits = *waits_of(series);
    std::string list;
    for (const u64 gap : waits.gaps)
      list += fmt::format("{}{}", list.empty() ? "" : ", ", human::duration(gap));
    const u64 nominal = u64{4096} << waits.exponent;
    Told told{
        fmt::format("{}: PSN {} was sent again {}, with waits of {}: {}.", name_of(trace, flow),
                    series.psn, plural(series.resends, "time", "times"), list,
                    waits.timer == "ib_spec"
                        ? fmt::format("the timer of the specification, exponent {} (4.096 us "
                                      "* 2^{} = {})",
                                      waits.exponent, waits.exponent, human::duration(nominal))
                    : waits.timer == "adaptive"
                        ? "a timer that adapts, as NICs with adaptive retransmission have"
                        : "no regular timer"),
        identity(trace, flow)};
    told.evidence.emplace_back("psn", u64{series.psn});
    told.evidence.emplace_back("resends", u64{series.resends});
    told.evidence.emplace_back("class",
                               std::string(waits.timer.empty() ? "irregular" : waits.timer));
    told.evidence.emplace_back("shortest_wait_ns", std::ranges::min(waits.gaps));
    told.evidence.emplace_back("longest_wait_ns", std::ranges::max(waits.gaps));
    told.evidence.emplace_back("exponent", u64{waits.exponent});
    return told;
  };
  report_cases(trace, kKinds[0], std::move(cases), tell, out);
}

void judge_spurious(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  const auto spurious = [](const TroubleCounts& counts) {
    return counts.by_place[static_cast<std::size_t>(Place::spurious)];
  };
  trace.each_flow([&](const HalfFlow& flow) {
    const TroubleCounts counts = flow.requests.trouble_counts();
    const double share = ratio(spurious(counts), counts.retransmissions);
    if (spurious(counts) == 0) return;
    Sightings seen = trace.log(flow).of(Happening::retransmission);
    seen.count = spurious(counts);
    cases.push_back({flow.id,
                     share >= trace.limit("spurious.warning") ? Severity::warning : Severity::info,
                     static_cast<double>(seen.count), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const TroubleCounts counts = flow.requests.trouble_counts();
    Told told{fmt::format("{}: {} of {} retransmitted packets came after their ACK had passed.",
                          name_of(trace, flow), human::grouped(one.seen.count),
                          human::grouped(counts.retransmissions)),
              identity(trace, flow)};
    told.evidence.emplace_back("spurious", one.seen.count);
    told.evidence.emplace_back("retransmissions", counts.retransmissions);
    const Connection* connection = trace.connection(flow);
    const Histogram* acks = connection ? connection->slot(Times::ack).get() : nullptr;
    if (acks) {
      told.text +=
          fmt::format(" ACKs take {} in the median and {} at most.",
                      human::duration(acks->quantile(0.5)), human::duration(acks->quantile(1)));
      told.evidence.emplace_back("longest_ack_latency_ns", acks->quantile(1));
    }
    return told;
  };
  report_cases(trace, kKinds[1], std::move(cases), tell, out);
}

void judge(const TraceView& trace, Findings& out) {
  judge_series(trace, out);
  judge_spurious(trace, out);
}

}  // namespace

extern const CatalogEntry kTimeouts;
constinit const CatalogEntry kTimeouts = {kKinds, judge};

}  // namespace rocetrace
