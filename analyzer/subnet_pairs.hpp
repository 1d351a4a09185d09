// SPDX-License-Identifier: BSD-3-Clause
// The cross-subnet view: which pairs of subnets are slow, and whether marks or losses make them so.

#pragma once

#include "findings/trace_view.hpp"
#include "report/report.hpp"
#include "trace_state.hpp"

namespace rocetrace {

/// One row per pair of subnets between which the half-flows of these ids go; the slowest first.
std::vector<SubnetPairRow> subnet_pairs(const TraceState& state, std::span<const u32> half_flows,
                                        const SubnetPrefix& prefix);

}  // namespace rocetrace
