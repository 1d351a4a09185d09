// SPDX-License-Identifier: BSD-3-Clause
#include "trace_state.hpp"

#include <algorithm>

#include "large_pages.hpp"
#include "limits.hpp"

namespace rocetrace {

using roce::flow::Arrival;
using roce::flow::Observation;

TraceState::TraceState(const Options& options, bool keep_settlements)
    : trace(options),
      tracker(keep_settlements, options.max_flows.value_or(0), ask_for_large_pages),
      surroundings(std::max(limits_of(options)["link.gbps"], 0.001)),
      taps(options) {}

// A CM message speaks of what comes after it, so it has its turn right behind its packet.
void TraceState::observe(std::span<const Observation> packets, std::span<Arrival> arrivals) {
  std::size_t begin = 0;
  for (const Decoder::Cm& cm : decoder.cm_messages()) {
    const std::size_t count = cm.packet + 1 - begin;
    tracker.observe(packets.subspan(begin, count), arrivals.subspan(begin, count));
    if (!packets[cm.packet].has(roce::flow::kCopy))
      tracker.observe_cm(packets[cm.packet], cm.message);
    begin = cm.packet + 1;
  }
  tracker.observe(packets.subspan(begin), arrivals.subspan(begin));
}

void TraceState::look_around() {
  surroundings.meet(frames, tracker.flows());
  for (const std::size_t index : decoder.others()) surroundings.observe(frames[index]);
}

void TraceState::run(Progress& progress, const Each& each) {
  std::vector<Arrival> arrivals(kBatchFrames);
  roce::u64 done_frames = 0;
  while (trace.next(frames)) {
    const std::span<Observation> packets = decoder.decode(frames);
    taps.mark(frames, packets);
    observe(packets, arrivals);
    look_around();
    if (each) each(packets, std::span(arrivals).first(packets.size()));

    done_frames += frames.size();
    progress.update(trace.bytes_read(), trace.total_size(), done_frames);
  }
  tracker.finish();
  taps.finish();
  roce::u64 end = 0;
  for (std::size_t i = 0; i < trace.size(); i++)
    end = std::max(end, trace.info(i).last_time.value_or(0));
  surroundings.finish(end);
}

}  // namespace rocetrace
