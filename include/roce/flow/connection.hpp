// SPDX-License-Identifier: BSD-3-Clause
// Two half-flows that are the two ends of one QP pair, and what only both together can tell.

#pragma once

#include <memory>
#include <string_view>

#include "roce/flow/histogram.hpp"

namespace roce::flow {

enum class Evidence : u8 { none, cm, psn, only_pair };
inline constexpr std::array<std::string_view, 4> kEvidenceNames = {"none", "cm", "psn",
                                                                   "only_pair"};
constexpr std::string_view name(Evidence value) {
  return kEvidenceNames[static_cast<std::size_t>(value)];
}

/// Distributions of one connection, both directions together; each is made with its first sample.
struct ConnectionTimes {
  std::unique_ptr<Histogram> ack, read, read_first, message, nak_generation, nak_reaction,
      ce_to_cnp;
};

struct Connection {
  u32 id = 0;                  // from 1
  std::array<u32, 2> flows{};  // ids of the half-flows, the one seen first in front
  Evidence evidence = Evidence::none;
  bool broken = false;     // a later contradiction took the pair apart
  u32 support = 0;         // responses that fitted
  u32 contradictions = 0;  // responses that did not
  u64 shortest_rtt = 0;    // nanoseconds; 0 unknown
  ConnectionTimes times;

  /// 0..1: how sure it is that the two belong together.
  double confidence() const {
    if (evidence == Evidence::cm) return contradictions > support ? 0.5 : 1.0;
    if (evidence == Evidence::only_pair) return 0.5;
    return static_cast<double>(support) / (1.0 + support + 4.0 * contradictions);
  }
};

inline void add_sample(std::unique_ptr<Histogram>& histogram, u64 value) {
  if (!histogram) histogram = std::make_unique<Histogram>();
  histogram->add(value);
}

}  // namespace roce::flow
