// SPDX-License-Identifier: BSD-3-Clause
// Which hosts were seen to send to which: what tells an answer that never came from one that the
// capture could not hold.

#pragma once

#include <algorithm>
#include <set>
#include <utility>

#include "findings/trace_view.hpp"

namespace rocetrace {

class Talkers {
 public:
  explicit Talkers(const TraceView& trace) : trace_(trace) {
    for (u32 id = 1; id <= trace.tracker.flows().size(); id++)
      pairs_.insert({trace.flow(id).key.source, trace.flow(id).key.destination});
    both_ways_ = std::ranges::any_of(pairs_, [&](const auto& pair) {
      return pair.first != pair.second && pairs_.contains({pair.second, pair.first});
    });
  }

  /// Whether RoCE packets came from the host that `flow` goes to, to the one it comes from.
  bool came_back(const roce::flow::HalfFlow& flow) const {
    return pairs_.contains({flow.key.destination, flow.key.source});
  }
  /// Whether an answer to `flow` would have been captured: others are, or other packets of the
  /// peer's are.
  bool would_show(const roce::flow::HalfFlow& flow) const {
    return came_back(flow) || both_ways_ ||
           trace_.speakers.heard(trace_.address(flow.key.destination));
  }

 private:
  const TraceView& trace_;
  std::set<std::pair<u32, u32>> pairs_;  // source and destination of half-flows
  bool both_ways_ = false;               // some two hosts are heard both ways
};

}  // namespace rocetrace
