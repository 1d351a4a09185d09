// SPDX-License-Identifier: BSD-3-Clause
#include "retell.hpp"

#include "capture/standard_input.hpp"
#include "trace_state.hpp"
#include "verdicts.hpp"

namespace rocetrace {

using roce::flow::Arrival;
using roce::flow::Observation;

void retell(const Options& options, Analysis& analysis, Progress& progress,
            const std::function<void(const Moment&)>& visit) {
  rewind_standard_input(options.captures);
  Verdicts verdicts(std::move(analysis.state->tracker.settlements()));
  TraceState second(options);
  second.run(progress,
             [&](std::span<const Observation> packets, std::span<const Arrival> arrivals) {
               std::size_t next = 0;
               for (const Frame& frame : second.frames) {
                 Moment moment{.frame = frame, .capture = second.trace.info(frame.capture)};
                 if (next < packets.size() && packets[next].frame == frame.number) {
                   moment.packet = &packets[next];
                   moment.arrival = arrivals[next++];
                   verdicts.settle(frame.number, moment.arrival);
                   moment.episode = verdicts.episode(moment.arrival.episode);
                 }
                 visit(moment);
               }
             });
}

}  // namespace rocetrace
