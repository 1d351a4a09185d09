// SPDX-License-Identifier: BSD-3-Clause
#include "findings/investigation.hpp"

#include <algorithm>
#include <tuple>

#include "findings/sampling.hpp"
#include "findings/unmet.hpp"
#include "roce/net/pause_frame.hpp"

namespace rocetrace {

Investigation::Investigation(const Circumstances& circumstances) {
  for (const CatalogEntry* entry : catalog())
    detectors_.push_back(entry->make ? entry->make(circumstances) : nullptr);
}

void Investigation::on_packet(const Event& event) {
  logs_.note(event.packet, event.arrival, event.tracker);
  for (const auto& detector : detectors_)
    if (detector) detector->on_packet(event);
  if (wants_all_) ask_again();
}

void Investigation::ask_again() {
  wants_all_ = std::ranges::any_of(
      detectors_, [](const auto& detector) { return detector && detector->wants_all(); });
}

void Investigation::on_frame(const OtherFrame& frame) {
  if (frame.path.source.kind != roce::net::AddressKind::none) speakers_.note(frame.path.source);
  if (!pauses_seen_ && frame.link_type == 1)
    pauses_seen_ = roce::net::decode_pause(frame.bytes).has_value();
  for (const auto& detector : detectors_)
    if (detector) detector->on_frame(frame);
  ask_again();
}

Findings Investigation::conclude(TraceView trace) {
  Findings out;
  trace.sampled = trace.is_ordered() && is_sampled(trace);
  out.unordered = trace.sampled || !trace.is_ordered();
  for (std::size_t i = 0; i < detectors_.size(); i++) {
    if (detectors_[i]) {
      detectors_[i]->on_end(trace, out);
    } else {
      catalog()[i]->judge(trace, out);
    }
  }
  apply_needs(trace, pauses_seen_, out);
  std::ranges::stable_sort(out.found, [](const Finding& a, const Finding& b) {
    const auto rank = [](const Finding& finding) {
      return std::tuple(finding.severity, finding.kind->urgency);
    };
    return rank(a) > rank(b);
  });
  return out;
}

}  // namespace rocetrace
