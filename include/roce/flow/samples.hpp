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
    waiting_[count_++] = {value, connection, which};
    if (count_ == waiting_.size()) flush(connections);
  }

  /// Brings everything to its place.
  void flush(std::vector<Connection>& connections) {
    for (std::size_t i = 0; i < count_; i++)
      __builtin_prefetch(&connections[waiting_[i].connection - 1].slot(waiting_[i].which));
    for (std::size_t i = 0; i < count_; i++)
      __builtin_prefetch(connections[waiting_[i].connection - 1].slot(waiting_[i].which).get());
    for (std::size_t i = 0; i < count_; i++) {
      const auto& histogram = connections[waiting_[i].connection - 1].slot(waiting_[i].which);
      if (histogram) __builtin_prefetch(histogram->address(waiting_[i].value));
    }
    for (std::size_t i = 0; i < count_; i++)
      add_sample(connections[waiting_[i].connection - 1].slot(waiting_[i].which),
                 waiting_[i].value);
    count_ = 0;
  }

 private:
  struct Sample {
    u64 value = 0;
    u32 connection = 0;
    Times which{};
  };
  std::array<Sample, 64> waiting_;
  std::size_t count_ = 0;
};

}  // namespace roce::flow
