// SPDX-License-Identifier: BSD-3-Clause
#include "findings/unmet.hpp"

#include <algorithm>

#include "findings/catalog.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

/// A need that is not met, and why. Where it `spoils`, findings made all the same are wrong.
struct Lack {
  Need need;
  std::string why;
  bool spoils = false;
};

bool found(const Findings& out, std::string_view id) {
  return std::ranges::any_of(out.found,
                             [&](const Finding& finding) { return finding.kind->id == id; });
}

/// What the packets of all half-flows hold.
struct Held {
  bool responses = false, vlan_tags = false, marks = false, icrcs = false;
};

Held held_by(const TraceView& trace) {
  Held held;
  trace.each_flow([&](const HalfFlow& flow) {
    held.responses = held.responses || flow.responses.any();
    held.vlan_tags = held.vlan_tags || (flow.rare_state && flow.rare_state->vlans.begin() !=
                                                               flow.rare_state->vlans.end());
    held.marks = held.marks || flow.ce_marked > 0;
    held.icrcs =
        held.icrcs || flow.icrc_good > 0 || (flow.rare_state && flow.rare_state->icrc_bad > 0);
  });
  return held;
}

// Those that make other findings wrong, or are the plainest, first: a kind is told with the first.
std::vector<Lack> lacks_of(const TraceView& trace, bool pauses_seen, const Findings& out) {
  std::vector<Lack> lacks;
  u64 packets = 0, untimed = 0;
  bool ethernet = false, counts_drops = false;
  for (const CaptureFacts& capture : trace.captures) {
    packets += capture.packets;
    untimed += capture.untimed_packets;
    ethernet = ethernet || capture.ethernet;
    counts_drops = counts_drops || capture.dropped_packets.has_value();
  }
  const Held held = held_by(trace);
  if (!trace.is_ordered()) {
    const std::string why =
        trace.mixed_ns ? "Two taps with two clocks were merged into one capture."
                       : "Files of the ring overlap in time: one of them had another clock.";
    lacks.push_back({Need::one_tap, why, true});
    if (!counts_drops) lacks.push_back({Need::answers_or_drops, why});
  }
  if (trace.sampled) {
    const std::string why = "The capture holds a sample of the packets only.";
    lacks.push_back({Need::every_packet, why, true});
    if (!counts_drops) lacks.push_back({Need::answers_or_drops, why});
  }
  if (2 * untimed > packets)
    lacks.push_back({Need::times, "The capture has no time stamps.", true});
  if (found(out, "capture.one_direction")) {
    const std::string why = "Only one direction was captured.";
    lacks.push_back({Need::both_directions, why});
    if (!held.responses) lacks.push_back({Need::answers, why});
    if (!counts_drops) lacks.push_back({Need::answers_or_drops, why});
  }
  if (!ethernet) lacks.push_back({Need::ethernet, "The capture has no Ethernet headers."});
  if (!held.icrcs)
    lacks.push_back({Need::whole_packets, "No packet was captured to its end, where the ICRC is."});
  if (trace.tracker.cm().all().empty())
    lacks.push_back({Need::cm_messages,
                     "No message of the communication manager was captured (queue pair 1)."});
  if (!held.marks)
    lacks.push_back(
        {Need::marks,
         "No CE mark was captured: a tap in front of the switches that mark sees none."});
  if (!held.vlan_tags)
    lacks.push_back({Need::vlan_tags, "No RoCE packet with a VLAN tag was captured."});
  if (!pauses_seen)
    lacks.push_back({Need::pause_frames,
                     "No pause frame was captured; a host's own capture rarely shows any."});
  if (trace.circumstances.lossless_dscps.empty())
    lacks.push_back({Need::lossless_class, "No class was named with --lossless-dscp."});
  if (trace.circumstances.counters.empty())
    lacks.push_back({Need::counter_dumps,
                     "No counters of a NIC were given (--counters-before, --counters-after)."});
  return lacks;
}

}  // namespace

void apply_needs(const TraceView& trace, bool pauses_seen, Findings& out) {
  if (trace.half_flows.empty()) return;
  const std::vector<Lack> lacks = lacks_of(trace, pauses_seen, out);
  for (const Lack& lack : lacks)
    if (lack.spoils)
      std::erase_if(out.found,
                    [&](const Finding& finding) { return finding.kind->needs.has(lack.need); });
  const auto is_told = [&](std::string_view id) {
    return found(out, id) || std::ranges::count(out.unjudged, id, &Unjudged::id) > 0;
  };
  for (const Lack& lack : lacks)
    for (const CatalogEntry* entry : catalog())
      for (const FindingKind& kind : entry->kinds)
        if (kind.needs.has(lack.need) && !is_told(kind.id))
          out.unjudged.push_back({kind.id, lack.why});
}

}  // namespace rocetrace
