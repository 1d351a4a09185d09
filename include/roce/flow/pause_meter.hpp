// SPDX-License-Identifier: BSD-3-Clause
// For how long one sender of pause frames kept its neighbour from sending, in one priority or all.

#pragma once

#include <algorithm>

#include "roce/wire/pause.hpp"

namespace roce::flow {

/// Adds up the time between "stop" and "go on". A stop ends by itself when its time, which counts
/// bits and not seconds, has run out: how soon depends on the speed of the link.
class PauseMeter {
 public:
  /// Takes one frame: `quanta` units of kPauseQuantumBits bit times, 0 for "go on", on a link that
  /// moves `gigabits` Gbit/s (> 0). `time` in nanoseconds; one that goes back counts as now.
  void observe(u64 time, u16 quanta, double gigabits) {
    time = std::max(time, last_time_);
    if (frames_ == 0) first_time_ = time;
    frames_++;
    last_time_ = time;
    advance(time);
    if (quanta == 0) {
      until_ = std::min(until_, time);
      return;
    }
    stops_++;
    if (until_ < time || run_since_ == kNone) run_since_ = time;
    const double span = static_cast<double>(quanta) * kPauseQuantumBits / gigabits;
    until_ = time + static_cast<u64>(span);
  }

  /// The end of the trace: a stop still in force ends there at the latest.
  void finish(u64 time) { advance(std::max(time, last_time_)); }

  u64 frames() const { return frames_; }
  u64 stops() const { return stops_; }            // frames with a time above 0
  u64 paused() const { return paused_; }          // nanoseconds, up to the last frame or finish()
  u64 longest() const { return longest_; }        // of the longest uninterrupted pause, nanoseconds
  u64 first_time() const { return first_time_; }  // of the frames, nanoseconds
  u64 last_time() const { return last_time_; }

 private:
  static constexpr u64 kNone = ~u64{0};

  void advance(u64 time) {
    if (run_since_ == kNone) return;
    const u64 end = std::min(time, until_);
    if (end > counted_to()) {
      paused_ += end - counted_to();
      counted_ = end;
    }
    longest_ = std::max(longest_, end - std::min(end, run_since_));
    if (until_ < time) run_since_ = kNone;
  }
  u64 counted_to() const { return std::max(counted_, run_since_); }

  u64 frames_ = 0, stops_ = 0;
  u64 paused_ = 0, longest_ = 0;
  u64 first_time_ = 0, last_time_ = 0;
  u64 run_since_ = kNone;  // since when it is paused without interruption
  u64 until_ = 0;          // when that ends by itself
  u64 counted_ = 0;        // up to where `paused_` holds it
};

}  // namespace roce::flow
