// SPDX-License-Identifier: BSD-3-Clause
// The step of the pipeline that looks for findings: shows them the trace, and puts what they found
// into the report.

#pragma once

#include <span>

#include "findings/investigation.hpp"
#include "report/report.hpp"
#include "trace_state.hpp"

namespace rocetrace {

class Judge {
 public:
  /// Throws std::runtime_error for thresholds that are none.
  explicit Judge(const Options& options);

  /// Takes the packets and other frames of the batch that `state` has just followed.
  void look(const TraceState& state, std::span<const roce::flow::Observation> packets,
            std::span<const roce::flow::Arrival> arrivals);

  /// Judges the whole trace, whose half-flows `selected` the user asked for, and fills in the
  /// report's findings, what could not be judged, and the trust of its captures.
  void conclude(const TraceState& state, std::span<const u32> selected, Report& report);

 private:
  void look_at(const TraceState& state, const roce::flow::Observation& packet,
               const roce::flow::Arrival& arrival);
  void look_at(const Frame& frame);

  Circumstances circumstances_;
  Investigation investigation_;
  std::size_t unshown_ = 0;   // plain packets since one was shown
  u32 known_flows_ = 0;       // half-flows of which packets were shown, up to the last batch
  std::size_t searches_ = 0;  // for the requests behind NAKs
};

}  // namespace rocetrace
