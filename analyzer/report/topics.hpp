// SPDX-License-Identifier: BSD-3-Clause
// What in a trace deserves to be shown in detail: its findings, and the worst half-flows besides.

#pragma once

#include <string>
#include <vector>

#include "report/report.hpp"

namespace rocetrace {

/// Something to show frames of.
struct Topic {
  std::string what;             // "loss.retransmission (warning)", "one of the worst half-flows"
  u64 first_frame = 0;          // where it begins and ends; 0 unknown
  u64 last_frame = 0;           //
  std::vector<u64> half_flows;  // ids, ascending; empty when it concerns the capture
};

/// The topics of a report, the most important first: at most `most`, with at most `most_flows`
/// half-flows each. A half-flow comes with its partner.
std::vector<Topic> topics(const Report& report, std::size_t most, std::size_t most_flows);

}  // namespace rocetrace
