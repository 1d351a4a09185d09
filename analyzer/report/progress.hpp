// SPDX-License-Identifier: BSD-3-Clause
// A bar on standard error while a long capture is read.

#pragma once

#include <chrono>
#include <cstdint>

namespace rocetrace {

/// Shows how far the work is once it has taken a second, and leaves nothing behind at its end.
class Progress {
 public:
  /// Never shows anything when not `wanted`, or when standard error is not a terminal.
  explicit Progress(bool wanted);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Cheap enough for every batch of frames. `total` is 0 when it is not known (a pipe).
  void update(std::uint64_t bytes_done, std::uint64_t bytes_total, std::uint64_t packets);

  /// Takes the bar away, before anything else is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
  bool wanted_;
  bool shown_ = false;
};

}  // namespace rocetrace
