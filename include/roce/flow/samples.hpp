// SPDX-License-Identifier: BSD-3-Clause
// Durations on their way to the distributions of their connections.
//
// A sample touches a connection, a histogram and one of its counts: three cache misses in a row,
// each waiting for the one before. Collected, the misses of many samples overlap.

#pragma once

#include "roce/flow/connection.hpp"

namespace roce::flow {

class Samples {
 public:
  /// Adds `value` nanoseconds to distribution `times.*which` of connection `id`, sooner or later.
  void add(u32 connection, Times which, u64 value, std::vector<Connection>& connections) {
    __builtin_prefetch(&connections[connection - 1].slot(which));
    waiting_[count_++] = {value, connection, which, static_cast<u16>(Histogram::bucket_of(value))};
    if (count_ == waiting_.size()) [[unlikely]]
      flush(connections);
  }

  /// Brings everything to its place.
  [[gnu::noinline]] void flush(std::vector<Connection>& connections) {
    std::array<Histogram*, kMost> histograms;
    for (std::size_t i = 0; i < count_; i++) {
      auto& histogram = connections[waiting_[i].connection - 1].slot(waiting_[i].which);
      if (!histogram) [[unlikely]]
        histogram = std::make_unique<Histogram>();
      histograms[i] = histogram.get();
      __builtin_prefetch(histograms[i], 1);
    }
    for (std::size_t i = 0; i < count_; i++)
      __builtin_prefetch(histograms[i]->address(waiting_[i].bucket), 1);
    for (std::size_t i = 0; i < count_; i++)
      histograms[i]->add(waiting_[i].value, waiting_[i].bucket);
    count_ = 0;
  }

 private:
  static constexpr std::size_t kMost = 64;
  struct Sample {
    u64 value = 0;
    u32 connection = 0;
    Times which{};
    u16 bucket = 0;  // of the histogram
  };
  std::array<Sample, kMost> waiting_;
  std::size_t count_ = 0;
};

}  // namespace roce::flow
