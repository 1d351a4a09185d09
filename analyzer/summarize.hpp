// SPDX-License-Identifier: BSD-3-Clause
// From what the tracker knows to the rows of a report.

#pragma once

#include "report/report.hpp"
#include "trace_state.hpp"

namespace rocetrace {

/// Fills the report. Its tables refer to `state`, which must outlive them. Gives the ids of the
/// half-flows that the user asked for, ascending.
std::vector<u32> summarize(const TraceState& state, const Options& options, Report& report);

}  // namespace rocetrace
