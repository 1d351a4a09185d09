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

/// What a NIC may pace its CNPs by.
enum class CnpScope : u8 { queue_pair, destination, port };

/// The shortest intervals of one NIC's CNPs in each scope, nanoseconds, 0 unknown, and how many of
/// each there are.
struct CnpIntervals {
  u64 of_queue_pair = 0, of_destination = 0, of_port = 0;
  u64 queue_pairs = 0, destinations = 0;

  /// The widest scope whose intervals are not shorter than those of a queue pair. A scope that
  /// holds one of the next only says nothing.
  constexpr CnpScope fitting() const {
    const auto fits = [&](u64 shortest) {
      return shortest != 0 && shortest * 5 > of_queue_pair * 4;
    };
    if (destinations > 1 && fits(of_port)) return CnpScope::port;
    if (queue_pairs > destinations && fits(of_destination)) return CnpScope::destination;
    return CnpScope::queue_pair;
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
