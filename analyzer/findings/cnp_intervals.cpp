// SPDX-License-Identifier: BSD-3-Clause
#include "findings/cnp_intervals.hpp"

#include <algorithm>

namespace rocetrace {

using roce::u32;
using roce::u64;
using roce::flow::CnpIntervals;

namespace {

void take_shorter(u64& shortest, u64 interval) {
  if (interval != 0 && (shortest == 0 || interval < shortest)) shortest = interval;
}

}  // namespace

std::map<u32, CnpIntervals> cnp_intervals(const roce::flow::Tracker& tracker) {
  std::map<u32, CnpIntervals> nics;
  for (u32 id = 1; id <= tracker.flows().size(); id++) {
    const roce::flow::HalfFlow& flow = tracker.flows().at(id);
    if (!flow.rare_state || flow.rare_state->cnp.packets == 0) continue;
    CnpIntervals& nic = nics[flow.key.source];
    nic.queue_pairs++;
    const roce::flow::Histogram& intervals = flow.rare_state->cnp.intervals;
    // Two at the same time have an interval, too.
    if (intervals.count() > 0) take_shorter(nic.of_queue_pair, std::max<u64>(intervals.min(), 1));
  }
  for (const auto& [pair, pace] : tracker.cnp_scopes().by_pair()) {
    CnpIntervals& nic = nics[pair.first];
    nic.destinations++;
    take_shorter(nic.of_destination, pace.shortest);
  }
  for (const auto& [address, pace] : tracker.cnp_scopes().by_source())
    nics[address].of_port = pace.shortest;
  return nics;
}

}  // namespace rocetrace
