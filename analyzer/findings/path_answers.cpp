// SPDX-License-Identifier: BSD-3-Clause
// path.one_way and path.responses_stopped: requests that nobody answers, told apart by whether
// anybody ever did.

#include "findings/cases.hpp"
#include "findings/deaths.hpp"
#include "findings/detector.hpp"
#include "findings/talkers.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

constexpr FindingKind kKinds[] = {
    {"path.one_way",
     Severity::error,
     Urgency::dead,
     "Requests that nobody ever answered",
     "The peer never got them, or its answers never came this way: a wrong address or GID index "
     "(RoCEv1 instead of v2, another subnet), a receiver whose queue pair was never opened, a "
     "firewall, a switch that drops the traffic class.",
     "At least path.tries (3) tries of one PSN, and no RoCE packet at all from the peer to this "
     "host, in a "
     "capture that holds other packets of the peer's, or answers of others.",
     "Compare the GID index of both ends (show_gids), and whether the peer answers ping from this "
     "address; then capture at the peer: do the requests arrive?",
     {Need::both_directions, Need::every_packet, Need::one_tap}},
    {"path.responses_stopped",
     Severity::error,
     Urgency::dead,
     "Answers that stopped",
     "The peer answered and then no more: its process or host died, its queue pair went into an "
     "error state, a link or a route on the way failed.",
     "There were answers to this half-flow, then at least path.tries (3) tries of one PSN without "
     "any.",
     "Look at the peer's log at that moment, and at link and route changes. If its other queue "
     "pairs went on, it is the process; if all stopped, the host or the path.",
     {Need::both_directions, Need::every_packet, Need::one_tap}},
};

Told tell(const TraceView& trace, const Case& one, bool stopped) {
  const HalfFlow& flow = trace.flow(one.half_flow);
  const InVain vain = *asked_in_vain(trace, flow, resends_in_vain(trace));
  Told told{fmt::format("{}: PSN {} was sent {}, ", name_of(trace, flow), vain.series.psn,
                        plural(u64{vain.series.resends} + 1, "time", "times")),
            identity(trace, flow)};
  told.text +=
      stopped ? fmt::format("and the last answer had come {}.", moment(trace, vain.last_answer))
              : "and no packet ever came back, though this capture would have seen it.";
  told.evidence.emplace_back("psn", u64{vain.series.psn});
  told.evidence.emplace_back("tries", u64{vain.series.resends} + 1);
  if (stopped)
    told.evidence.emplace_back("answered_until_ns",
                               vain.last_answer - std::min(trace.begin, vain.last_answer));
  return told;
}

void judge(const TraceView& trace, Findings& out) {
  const Talkers talkers(trace);
  std::vector<Case> one_way, stopped;
  u64 unknown = 0;
  trace.each_flow([&](const HalfFlow& flow) {
    const auto vain = asked_in_vain(trace, flow, resends_in_vain(trace));
    if (!vain || vain->series.resends == 0 || vain->not_ready) return;
    const Case one{flow.id, Severity::error, static_cast<double>(vain->silence), vain->series.seen};
    if (vain->last_answer != 0) {
      // A tail that the end of the trace cut short proves nothing.
      if (vain->gave_up || vain->last_answer < vain->series.seen.first_time) stopped.push_back(one);
    } else if (!talkers.came_back(flow)) {
      if (talkers.would_show(flow)) {
        one_way.push_back(one);
      } else {
        unknown++;
      }
    }
  });
  report_cases(
      trace, kKinds[0], std::move(one_way),
      [&](const Case& one) { return tell(trace, one, false); }, out);
  report_cases(
      trace, kKinds[1], std::move(stopped), [&](const Case& one) { return tell(trace, one, true); },
      out);
  if (unknown > 0)
    out.unjudged.push_back(
        {kKinds[0].id,
         fmt::format("{} got no answer, but this capture holds nothing that comes the other way, "
                     "so answers may just not have been captured.",
                     plural(unknown, "half-flow", "half-flows"))});
}

}  // namespace

extern const CatalogEntry kPathAnswers;
constinit const CatalogEntry kPathAnswers = {kKinds, judge};

}  // namespace rocetrace
