// SPDX-License-Identifier: BSD-3-Clause
// Per host: what its NIC should have counted, as far as the tap can tell.

#pragma once

#include <vector>

#include "report/report.hpp"
#include "trace_state.hpp"

namespace rocetrace {

/// One row per address, in the order of the addresses' text.
std::vector<HostRow> host_rows(const TraceState& state);

}  // namespace rocetrace
