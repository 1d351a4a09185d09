// SPDX-License-Identifier: BSD-3-Clause
// How the trace went over time: from the tracker's bins to rows of a report.

#pragma once

#include "report/report.hpp"
#include "trace_state.hpp"

namespace rocetrace {

/// What half-flows `ids` (ascending) carried in each bin of the trace's clock: all of them together
/// first, and with `each` then every one for itself. Bins in which nothing happened have no row.
std::vector<TimeBinRow> time_bin_rows(const TraceState& state, const std::vector<roce::u32>& ids,
                                      bool each);

}  // namespace rocetrace
