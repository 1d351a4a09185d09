// SPDX-License-Identifier: BSD-3-Clause
// What does not fit between the files of a ring, as the report tells it.

#pragma once

#include <vector>

#include "capture/rotation.hpp"
#include "report/report.hpp"
#include "trace_state.hpp"

namespace rocetrace {

/// The faults of the trace's rings, but for files that hold the same packets: those are of two taps
/// and have been told apart.
std::vector<RotationFault> ring_faults(const TraceState& state);

/// Tells of them in the notes of the captures, which are there already.
void note_ring_faults(const TraceState& state, Report& report);

}  // namespace rocetrace
