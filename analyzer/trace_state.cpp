// SPDX-License-Identifier: BSD-3-Clause
#include "trace_state.hpp"

namespace rocetrace {

using roce::flow::Arrival;
using roce::flow::Observation;

TraceState::TraceState(const Options& options, bool keep_settlements)
    : trace(options), tracker(keep_settlements, options.max_flows.value_or(0)) {}

// A CM message speaks of what comes after it, so it has its turn right behind its packet.
void TraceState::observe(std::span<const Observation> packets, std::span<Arrival> arrivals) {
  std::size_t begin = 0;
  for (const Decoder::Cm& cm : decoder.cm_messages()) {
    const std::size_t count = cm.packet + 1 - begin;
    tracker.observe(packets.subspan(begin, count), arrivals.subspan(begin, count));
    tracker.observe_cm(packets[cm.packet], cm.message);
    begin = cm.packet + 1;
  }
  tracker.observe(packets.subspan(begin), arrivals.subspan(begin));
}

void TraceState::run(Progress& progress, const Each& each) {
  std::vector<Arrival> arrivals(kBatchFrames);
  roce::u64 done_frames = 0;
  while (trace.next(frames)) {
    const std::span<const Observation> packets = decoder.decode(frames);
    observe(packets, arrivals);
    if (each) each(packets, std::span(arrivals).first(packets.size()));

    done_frames += frames.size();
    roce::u64 done = 0, total = 0;
    for (std::size_t i = 0; i < trace.size(); i++) {
      done += trace.info(i).bytes_read;
      total += trace.info(i).total_size;
    }
    progress.update(done, total, done_frames);
  }
  tracker.finish();
}

}  // namespace rocetrace
