// SPDX-License-Identifier: BSD-3-Clause
// Kinds of findings whose needs a capture does not meet: taken out where they would be wrong, and
// named with the reason where they could not be made.

#pragma once

#include "findings/trace_view.hpp"

namespace rocetrace {

/// Takes out of `out` what this trace cannot say, and adds what could not be judged, in the order
/// of the reasons. `pauses_seen`: whether it holds pause frames.
void apply_needs(const TraceView& trace, bool pauses_seen, Findings& out);

}  // namespace rocetrace
