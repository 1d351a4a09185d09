// SPDX-License-Identifier: BSD-3-Clause
// From what the surroundings told to the rows of a report.

#pragma once

#include "report/report.hpp"
#include "trace_state.hpp"

namespace rocetrace {

/// Fills the report's tables of ICMP errors, pauses, DCBX settings and samples.
void tell_surroundings(const TraceState& state, Report& report);

}  // namespace rocetrace
