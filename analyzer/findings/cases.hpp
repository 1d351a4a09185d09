// SPDX-License-Identifier: BSD-3-Clause
// The same trouble of many half-flows, told as one finding.
//
// A congested port or a slow host shows in hundreds of queue pairs at once. Each of them is a case;
// cases that share a responder, a sender, a host pair, two subnets, a DSCP or, by all that is seen,
// a queue of a switch become one finding.

#pragma once

#include <functional>

#include "findings/trace_view.hpp"

namespace rocetrace {

/// One half-flow of which a kind of finding holds.
struct Case {
  u32 half_flow = 0;
  Severity severity = Severity::info;
  double weight = 0;  // how bad it is, to compare cases of one kind
  Sightings seen;     // `count` is what is added up
};

/// What there is to say of a case, made only for those that are shown: a sentence that names its
/// half-flow, and evidence.
struct Told {
  std::string text;
  Evidence evidence;
};
using Tell = std::function<Told(const Case&)>;

/// Fewer cases than this stay findings of their own.
inline constexpr std::size_t kGrouped = 4;

/// Makes findings of `cases`.
void report_cases(const TraceView& trace, const FindingKind& kind, std::vector<Case> cases,
                  const Tell& tell, Findings& out);

}  // namespace rocetrace
