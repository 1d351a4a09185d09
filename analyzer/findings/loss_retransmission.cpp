// SPDX-License-Identifier: BSD-3-Clause
// loss.retransmission: how much a half-flow sent again, why, and where the first copies were lost.

#include <algorithm>

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/marks.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"loss.retransmission",
     Severity::warning,
     Urgency::lossy,
     "Packets sent again",
     "Packets or their answers were lost, came too late or were damaged. With go-back-N one lost "
     "packet makes the sender repeat all that followed it, so goodput falls much faster than the "
     "loss rate says.",
     "The share of retransmitted among request packets: a warning from loss.retransmission.warning "
     "(0.1 %), an error from loss.retransmission.error (5 %), information below. What was sent "
     "again because the responder was not ready (place not_ready) is no loss and does not count: "
     "see rnr.storm.",
     "Follow the place: upstream is in front of the tap, downstream behind it, response on the way "
     "back, not_ready is the responder's host. Then look at drop and pause counters of the "
     "switches "
     "there, for the traffic class that the DSCP maps to.",
     {Need::every_packet, Need::one_tap}},
};

template <class Names, class Counts>
std::string largest_first(const Names& names, const Counts& counts) {
  std::vector<std::size_t> order;
  for (std::size_t i = 1; i < counts.size(); i++)
    if (counts[i] > 0) order.push_back(i);
  std::ranges::stable_sort(order,
                           [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  std::string text;
  for (const std::size_t i : order)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", names[i], human::grouped(counts[i]));
  return text;
}

Told tell(const TraceView& trace, const Case& one) {
  const HalfFlow& flow = trace.flow(one.half_flow);
  const TroubleCounts counts = flow.requests.trouble_counts();
  const u64 sent = flow.requests.packets();
  Told told{fmt::format("{}: {} of {} ({}) were sent again, {}, in {}; by cause: {}; by place: {}.",
                        name_of(trace, flow), human::grouped(counts.retransmissions), packets(sent),
                        human::share(counts.retransmissions, sent),
                        human::bytes(counts.retransmitted_bytes),
                        plural(counts.episodes, "recovery", "recoveries"),
                        largest_first(kCauseNames, counts.by_cause),
                        largest_first(kPlaceNames, counts.by_place)),
            identity(trace, flow)};
  Evidence& evidence = told.evidence;
  evidence.emplace_back("retransmissions", counts.retransmissions);
  evidence.emplace_back("retransmitted_bytes", counts.retransmitted_bytes);
  evidence.emplace_back("share", rounded(ratio(counts.retransmissions, sent), 6));
  evidence.emplace_back("episodes", u64{counts.episodes});
  const u64 for_loss = resent_for_loss(counts);
  if (const u64 not_ready = counts.retransmissions - for_loss; not_ready > 0)
    told.text += fmt::format(" {} again only because the responder was not ready.",
                             not_ready == 1 ? "1 came" : human::grouped(not_ready) + " came");
  // Each other recovery began with a loss; behind the place of loss all that was lost is known.
  const u64 missed = counts.missing_psns - std::min<u64>(counts.reordered, counts.missing_psns);
  const u64 lost = std::max<u64>(missed, counts.episodes - counts.episodes_not_ready);
  evidence.emplace_back("amplification", rounded(ratio(for_loss, lost), 2));
  for (std::size_t i = 1; i < kCauseCount; i++)
    if (counts.by_cause[i] > 0)
      evidence.emplace_back(fmt::format("cause_{}", kCauseNames[i]), counts.by_cause[i]);
  for (std::size_t i = 1; i < kPlaceCount; i++)
    if (counts.by_place[i] > 0)
      evidence.emplace_back(fmt::format("place_{}", kPlaceNames[i]), counts.by_place[i]);
  // What go-back-N repeats, for each packet that a recovery began with.
  const double amplification = ratio(counts.retransmissions, counts.episodes);
  if (amplification > 1.05) {
    told.text += fmt::format(" Each recovery repeated {:.1f} packets.", amplification);
    evidence.emplace_back("packets_per_recovery", rounded(amplification, 2));
  }
  if (const Resending* resending = trace.log(flow).resending()) {
    const Burst& burst = resending->longest_burst;
    const u64 lasted = burst.last_time - burst.first_time;
    if (burst.packets > 1)
      told.text += fmt::format(" The longest burst had {} in {}, from frame {}.",
                               packets(burst.packets), human::duration(lasted), burst.first_frame);
    evidence.emplace_back("bursts", u64{resending->bursts});
    evidence.emplace_back("longest_burst_packets", burst.packets);
    evidence.emplace_back("longest_burst_ns", lasted);
    evidence.emplace_back("longest_burst_frame", burst.first_frame);
  }
  return told;
}

void judge(const TraceView& trace, Findings& out) {
  const double warning = trace.limit("loss.retransmission.warning");
  const double error = trace.limit("loss.retransmission.error");
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const TroubleCounts counts = flow.requests.trouble_counts();
    // Of a responder that is not ready rnr.storm tells.
    const u64 for_loss = resent_for_loss(counts);
    if (for_loss == 0) return;
    const double share = ratio(for_loss, flow.requests.packets());
    Sightings seen = trace.log(flow).of(Happening::retransmission);
    seen.count = counts.retransmissions;
    cases.push_back({flow.id,
                     share >= error     ? Severity::error
                     : share >= warning ? Severity::warning
                                        : Severity::info,
                     share, seen});
  });
  report_cases(
      trace, kKinds[0], std::move(cases), [&](const Case& one) { return tell(trace, one); }, out);
}

}  // namespace

extern const CatalogEntry kLossRetransmission;
constinit const CatalogEntry kLossRetransmission = {kKinds, judge};

}  // namespace rocetrace
