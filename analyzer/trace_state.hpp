// SPDX-License-Identifier: BSD-3-Clause
// One pass over the captures: the steps in order, and what they leave behind.

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "decode.hpp"
#include "options.hpp"
#include "report/progress.hpp"
#include "roce/flow/tracker.hpp"
#include "selection.hpp"
#include "surroundings.hpp"
#include "taps.hpp"

namespace rocetrace {

struct TraceState {
  explicit TraceState(const Options& options, bool keep_settlements = false);

  /// Reads everything. `each` is given the packets of every batch and what the tracker said.
  using Each = std::function<void(std::span<const roce::flow::Observation>,
                                  std::span<const roce::flow::Arrival>)>;
  void run(Progress& progress, const Each& each = {});

  /// Packets of a capture that got lost behind the mirror, by its sequence numbers; nothing if that
  /// cannot be told.
  std::optional<roce::u64> mirror_missing(std::size_t capture) const {
    if (trace.left_out(capture).value_or(0) > 0) return std::nullopt;
    return decoder.mirrors().missing(capture);
  }

  FrameBatch frames;  // of the batch that is being followed
  SelectedTrace trace;
  Decoder decoder;
  roce::flow::Tracker tracker;
  Surroundings surroundings;
  Taps taps;

 private:
  void observe(std::span<const roce::flow::Observation> packets,
               std::span<roce::flow::Arrival> arrivals);
  void look_around();
};

}  // namespace rocetrace
