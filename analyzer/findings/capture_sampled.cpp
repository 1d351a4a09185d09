// SPDX-License-Identifier: BSD-3-Clause
// capture.sampled: a mirror or an sFlow agent that passes one packet of N on.

#include "findings/detector.hpp"
#include "findings/sampling.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

constexpr u64 kFewPackets = 8;  // a flow of fewer says nothing

constexpr FindingKind kKinds[] = {
    {"capture.sampled",
     Severity::warning,
     Urgency::setting,
     "A sample of the packets only",
     "The mirror, or an sFlow or NetFlow agent, passes one packet of many on. Addresses, queue "
     "pairs, DSCP and ECN shares are good; what is missing was not lost, and PSN gaps mean "
     "nothing.",
     "On most flows with 8 packets or more, at least half of the packets open a gap.",
     "Capture every packet, at least of the flows in question, to judge losses: mirror with a "
     "filter instead of a sampling rate.",
     {}},
};

struct Gaps {
  u64 flows = 0, sampled_flows = 0;
  u64 gaps = 0, missing = 0;
};

Gaps gaps_of(const TraceView& trace) {
  Gaps out;
  const double share = trace.limit("capture.sampled.share");
  trace.each_flow([&](const HalfFlow& flow) {
    const u64 packets = flow.requests.packets();
    if (packets < kFewPackets || !is_traffic(flow)) return;
    const auto counts = flow.requests.trouble_counts();
    out.flows++;
    if (ratio(counts.gaps, packets) < share) return;
    out.sampled_flows++;
    out.gaps += counts.gaps;
    out.missing += counts.missing_psns;
  });
  return out;
}

void judge(const TraceView& trace, Findings& out) {
  if (!trace.sampled) return;
  const Gaps gaps = gaps_of(trace);
  Finding finding;
  finding.kind = &kKinds[0];
  finding.severity = kKinds[0].severity;
  finding.seen.count = gaps.sampled_flows;
  const double stride = rounded(ratio(gaps.missing, gaps.gaps) + 1, 1);
  finding.text =
      fmt::format("{} of {} flows show about one packet of {} each.",
                  human::grouped(gaps.sampled_flows), human::grouped(gaps.flows), stride);
  finding.evidence = {{"one_of", stride}, {"flows", gaps.sampled_flows}};
  out.found.push_back(finding);
  for (u32 i = 0; i < trace.captures.size(); i++)
    out.distrust.push_back({i, true, "It holds a sample of the packets: losses cannot be judged."});
}

}  // namespace

bool is_sampled(const TraceView& trace) {
  const Gaps gaps = gaps_of(trace);
  return gaps.flows > 0 && 3 * gaps.sampled_flows >= 2 * gaps.flows;
}

extern const CatalogEntry kCaptureSampled;
constinit const CatalogEntry kCaptureSampled = {kKinds, judge};

}  // namespace rocetrace
