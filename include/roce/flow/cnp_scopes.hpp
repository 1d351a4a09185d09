// SPDX-License-Identifier: BSD-3-Clause
// At what scope a NIC paces its CNPs: per port, per destination, per QP. NICs differ, and their
// manuals do not say; the shortest interval within each scope does.

#pragma once

#include <map>
#include <utility>

#include "roce/flow/histogram.hpp"
#include "roce/flow/observation.hpp"

namespace roce::flow {

/// CNPs within one scope of one NIC.
struct CnpPace {
  u64 last_time = 0;
  u64 shortest = 0;  // interval, nanoseconds; 0 unknown
  u64 packets = 0;
  void note(u64 time) {
    if (packets++ > 0 && time >= last_time && (shortest == 0 || time - last_time < shortest))
      shortest = std::max<u64>(time - last_time, 1);
    last_time = time;
  }
};

class CnpScopes {
 public:
  static constexpr std::size_t kMostPairs = 1u << 16;

  void note(const Observation& cnp) {
    by_source_[cnp.source].note(cnp.time);
    const std::pair pair(cnp.source, cnp.destination);
    if (by_pair_.size() < kMostPairs || by_pair_.contains(pair)) by_pair_[pair].note(cnp.time);
  }

  /// By address id of the NIC that sent them; by that and the destination's.
  const std::map<u32, CnpPace>& by_source() const { return by_source_; }
  const std::map<std::pair<u32, u32>, CnpPace>& by_pair() const { return by_pair_; }

 private:
  std::map<u32, CnpPace> by_source_;
  std::map<std::pair<u32, u32>, CnpPace> by_pair_;
};

}  // namespace roce::flow
