// SPDX-License-Identifier: BSD-3-Clause
// How long messages took, over the whole trace, by verb and size.

#pragma once

#include "roce/flow/histogram.hpp"
#include "roce/flow/messages.hpp"

namespace roce::flow {

class MessageTimes {
 public:
  /// Size classes: up to 256 bytes, 4 KiB, 64 KiB, 1 MiB, and more.
  static constexpr std::array<u32, 4> kUpTo = {256, 4096, 65536, 1 << 20};
  static constexpr std::size_t kSizeClasses = kUpTo.size() + 1;

  void add(Verb verb, u32 bytes, u64 time) {
    std::size_t size_class = 0;
    while (size_class < kUpTo.size() && bytes > kUpTo[size_class]) size_class++;
    times_[static_cast<std::size_t>(verb)][size_class].add(time);
  }
  /// From the first packet of a message to the response that completes it, nanoseconds.
  const Histogram& of(Verb verb, std::size_t size_class) const {
    return times_[static_cast<std::size_t>(verb)][size_class];
  }

 private:
  std::array<std::array<Histogram, kSizeClasses>, kVerbCount> times_;
};

}  // namespace roce::flow
