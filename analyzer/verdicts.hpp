// SPDX-License-Identifier: BSD-3-Clause
// The verdicts of the first pass, looked up in the order of the second.

#pragma once

#include <algorithm>
#include <utility>

#include "roce/flow/request_stream.hpp"

namespace rocetrace {

class Verdicts {
 public:
  explicit Verdicts(roce::flow::Settlements settlements)
      : classes_(std::move(settlements.classes)), episodes_(std::move(settlements.episodes)) {
    std::ranges::sort(classes_, {}, &roce::flow::SettledClass::frame);
    std::ranges::sort(episodes_, {}, &roce::flow::SettledEpisode::number);
  }

  /// Makes the verdict on `frame` final. Frames have to come in order.
  void settle(roce::u64 frame, roce::flow::Arrival& arrival) {
    while (next_ < classes_.size() && classes_[next_].frame < frame) next_++;
    if (next_ == classes_.size() || classes_[next_].frame != frame) return;
    arrival.packet_class = classes_[next_].packet_class;
    arrival.episode = classes_[next_].episode;
  }
  /// The episode of that number, or null.
  const roce::flow::SettledEpisode* episode(roce::u32 number) const {
    const auto at =
        std::ranges::lower_bound(episodes_, number, {}, &roce::flow::SettledEpisode::number);
    return at != episodes_.end() && at->number == number ? &*at : nullptr;
  }

 private:
  std::vector<roce::flow::SettledClass> classes_;
  std::vector<roce::flow::SettledEpisode> episodes_;
  std::size_t next_ = 0;
};

}  // namespace rocetrace
