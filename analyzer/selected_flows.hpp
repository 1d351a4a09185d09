// SPDX-License-Identifier: BSD-3-Clause
// Which half-flows the user asked for, by QP and host.

#pragma once

#include <vector>

#include "trace_state.hpp"

namespace rocetrace {

/// Ids, ascending: those of a QP and host that were asked for, with their partners.
std::vector<roce::u32> selected_flows(const TraceState& state, const Options& options);

}  // namespace rocetrace
