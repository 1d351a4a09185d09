// SPDX-License-Identifier: BSD-3-Clause
// Two half-flows that are the two ends of one QP pair, and what only both together can tell.

#pragma once

#include <memory>
#include <string_view>

#include "roce/flow/histogram.hpp"

namespace roce::flow {

/// How the two were found to belong together.
enum class Evidence : u8 { none, cm, psn, only_pair };
inline constexpr std::array<std::string_view, 4> kEvidenceNames = {"none", "cm", "psn",
                                                                   "only_pair"};
constexpr std::string_view name(Evidence value) {
  return kEvidenceNames[static_cast<std::size_t>(value)];
}

/// The distributions of a connection, both directions together.
enum class Times : u8 {
  ack,             // request packet to the ACK or atomic response with its PSN
  read,            // READ request to its last response
  read_first,      // READ request to its first response
  message,         // first packet of a message to the response that completes it
  nak_generation,  // packet after a gap to the sequence NAK
  nak_reaction,    // sequence NAK to the first packet sent again
  rnr_wait,        // RNR NAK to the first packet sent again
  ce_to_cnp        // the latest CE-marked packet to the CNP
};
inline constexpr std::size_t kTimesCount = 8;

struct Connection {
  u32 id = 0;                  // from 1
  std::array<u32, 2> flows{};  // ids of the half-flows, the one seen first in front
  Evidence evidence = Evidence::none;
  bool broken = false;       // a later contradiction took the pair apart
  u64 support = 0;           // responses that fitted; known when the connection ended
  u32 contradictions = 0;    // responses that did not
  u64 responses_before = 0;  // of both half-flows, before they were joined
  std::array<std::unique_ptr<Histogram>, kTimesCount> times;  // made with the first sample

  std::unique_ptr<Histogram>& slot(Times which) { return times[static_cast<std::size_t>(which)]; }
  const std::unique_ptr<Histogram>& slot(Times which) const {
    return times[static_cast<std::size_t>(which)];
  }

  /// 0..1: how sure it is that the two belong together.
  double confidence() const {
    if (evidence == Evidence::cm) return contradictions > support ? 0.5 : 1.0;
    if (evidence == Evidence::only_pair) return 0.5;
    const auto fitted = static_cast<double>(support);
    return fitted / (1.0 + fitted + 4.0 * contradictions);
  }
};

inline void add_sample(std::unique_ptr<Histogram>& histogram, u64 value) {
  if (!histogram) histogram = std::make_unique<Histogram>();
  histogram->add(value);
}

}  // namespace roce::flow
