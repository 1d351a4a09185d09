// SPDX-License-Identifier: BSD-3-Clause
// uc.message_lost: on an unreliable connection a lost packet ends its message for good.

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"uc.message_lost",
     Severity::warning,
     Urgency::lossy,
     "Messages lost on unreliable connections",
     "UC sends nothing again: a gap loses the whole message it lies in, and most NICs drop what is "
     "left of it. Reordering has the same effect there.",
     "A PSN gap within or before a message of a UC queue pair that was not filled in order.",
     "Look for the loss as with reliable connections; where paths reorder, use RC, or messages of "
     "one packet.",
     {Need::every_packet, Need::one_tap}},
};

void judge(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  trace.each_flow([&](const HalfFlow& flow) {
    const u64 lost = flow.rare_state ? flow.rare_state->uc_messages_lost : 0;
    if (lost == 0) return;
    Sightings seen = trace.log(flow).of(Happening::gap);
    seen.count = lost;
    cases.push_back({flow.id, Severity::warning, static_cast<double>(lost), seen});
  });
  const Tell tell = [&](const Case& one) {
    const HalfFlow& flow = trace.flow(one.half_flow);
    const TroubleCounts counts = flow.requests.trouble_counts();
    Told told{fmt::format("{}: {} of {} lost, by {} in {}.", name_of(trace, flow),
                          human::grouped(one.seen.count),
                          plural(flow.requests.messages() + one.seen.count, "message", "messages"),
                          plural(counts.missing_psns, "missing packet", "missing packets"),
                          plural(counts.gaps, "gap", "gaps")),
              identity(trace, flow)};
    told.evidence.emplace_back("messages_lost", one.seen.count);
    told.evidence.emplace_back("missing_psns", counts.missing_psns);
    return told;
  };
  report_cases(trace, kKinds[0], std::move(cases), tell, out);
}

}  // namespace

extern const CatalogEntry kUcMessageLost;
constinit const CatalogEntry kUcMessageLost = {kKinds, judge};

}  // namespace rocetrace
