// SPDX-License-Identifier: BSD-3-Clause
// capture.duplicates and capture.one_direction: mirrors that show a packet twice, or one way only.

#include <set>

#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

constexpr u64 kFewPackets = 8;

constexpr FindingKind kKinds[] = {
    {"capture.duplicates",
     Severity::info,
     Urgency::setting,
     "Packets were captured twice",
     "The mirror copies a packet where it enters and where it leaves the switch, or two switches "
     "on "
     "its way do. Duplicates are left out of all counts.",
     "The same IP identification, PSN, opcode and ICRC within 1 ms, the TTL equal or lower, and no "
     "resending around it.",
     "Mirror one direction per port, or remove duplicates with editcap -d.",
     {}},
    {"capture.one_direction",
     Severity::warning,
     Urgency::setting,
     "Only one direction was captured",
     "The mirror takes only what enters, or only what leaves a port; or a filter lost one "
     "direction, as 'udp port 4791' does when only that one has VLAN tags; or the two directions "
     "take different paths.",
     "Most packets of reliable queue pairs belong to half-flows whose other direction is not in "
     "the "
     "capture, and nothing else of those hosts is either.",
     "Mirror receive and transmit of the port. Until then causes, latencies and who lost what "
     "cannot be told.",
     {}},
    {"capture.two_taps",
     Severity::warning,
     Urgency::setting,
     "Two taps are mixed, each with its own clock",
     "The captures of two taps were merged, or come through one pipe. The order of the packets, "
     "and "
     "with it what was sent again or got lost, means nothing; all packets are counted twice.",
     "A fifth of the requests and of the responses come a second time with the same IP "
     "identification, PSN and operation, more than 1 ms and about as much later; a third, where "
     "the "
     "identifications do not count.",
     "Analyze the captures of the taps as files of their own: given together, they are told apart.",
     {}},
};

void judge_duplicates(const TraceView& trace, Findings& out) {
  u64 duplicates = 0, packets_seen = 0;
  Finding finding;
  trace.each_flow([&](const HalfFlow& flow) {
    packets_seen += flow.packets();
    const u64 own = flow.requests.trouble_counts().duplicate_captures +
                    (flow.rare_state ? flow.rare_state->response_duplicate_captures : 0);
    if (own == 0) return;
    duplicates += own;
    finding.half_flows.push_back(flow.id);
    finding.seen.merge(trace.log(flow).of(Happening::duplicate_capture));
  });
  if (duplicates == 0) return;
  finding.kind = &kKinds[0];
  finding.severity = kKinds[0].severity;
  finding.seen.count = duplicates;
  finding.text =
      fmt::format("{} of {} ({}) were captured a second time, on {}.", human::grouped(duplicates),
                  packets(packets_seen), human::share(duplicates, packets_seen),
                  plural(finding.half_flows.size(), "half-flow", "half-flows"));
  finding.evidence = {{"duplicates", duplicates}, {"half_flows", u64{finding.half_flows.size()}}};
  if (finding.half_flows.size() > 20) finding.half_flows.resize(20);
  out.found.push_back(std::move(finding));
  for (u32 i = 0; i < trace.captures.size(); i++)
    out.distrust.push_back(
        {i, false, fmt::format("It holds {} twice; they are left out.", packets(duplicates))});
}

void judge_direction(const TraceView& trace, Findings& out) {
  std::set<std::pair<std::string, std::string>> talkers;
  for (u32 id = 1; id <= trace.tracker.flows().size(); id++) {
    const auto& key = trace.flow(id).key;
    talkers.insert({host_of(trace, key.source), host_of(trace, key.destination)});
  }
  u64 alone = 0, all = 0, flows = 0;
  trace.each_flow([&](const HalfFlow& flow) {
    if (!is_traffic(flow) || !is_reliable(flow)) return;
    all += flow.packets();
    if (talkers.contains({host_of(trace, flow.key.destination), host_of(trace, flow.key.source)}) ||
        trace.speakers.heard(trace.address(flow.key.destination)))
      return;
    alone += flow.packets();
    flows++;
  });
  if (all < kFewPackets || 2 * alone <= all) return;
  Finding finding;
  finding.kind = &kKinds[1];
  finding.severity = kKinds[1].severity;
  finding.seen.count = flows;
  finding.text =
      fmt::format("{} of {} belong to {} of which nothing came back.", human::grouped(alone),
                  packets(all), plural(flows, "half-flow", "half-flows"));
  finding.evidence = {{"packets_one_way", alone}, {"packets", all}, {"half_flows", flows}};
  out.found.push_back(std::move(finding));
  for (u32 i = 0; i < trace.captures.size(); i++)
    out.distrust.push_back(
        {i, false, "It holds one direction only: causes and latencies cannot be told."});
}

void judge_mixed(const TraceView& trace, Findings& out) {
  Finding finding;
  finding.kind = &kKinds[2];
  finding.severity = kKinds[2].severity;
  const std::string apart = human::duration(*trace.mixed_ns);
  finding.text = fmt::format("The packets of two taps come mixed, with clocks {} apart.", apart);
  finding.evidence = {{"clocks_apart_ns", *trace.mixed_ns}};
  out.found.push_back(std::move(finding));
  for (u32 i = 0; i < trace.captures.size(); i++)
    out.distrust.push_back({i, true,
                            fmt::format("It mixes two taps whose clocks are {} apart: the "
                                        "order of packets means nothing.",
                                        apart)});
}

void judge(const TraceView& trace, Findings& out) {
  if (trace.mixed_ns) return judge_mixed(trace, out);
  judge_duplicates(trace, out);
  judge_direction(trace, out);
}

}  // namespace

extern const CatalogEntry kCaptureMirror;
constinit const CatalogEntry kCaptureMirror = {kKinds, judge};

}  // namespace rocetrace
