// SPDX-License-Identifier: BSD-3-Clause
// Rows of a report found by what they are about.

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "report/report.hpp"

namespace rocetrace {

/// The half-flow of that id; ids ascend in the table.
std::optional<HalfFlowRow> half_flow(const Report& report, u64 id);

/// The other half of a half-flow's connection, if it is known.
std::optional<u64> partner_in(const ConnectionRow& connection, u64 half_flow);

/// The connections that these half-flows belong to, by half-flow.
std::map<u64, ConnectionRow> connections_of(const Report& report, const std::vector<u64>& ids);

}  // namespace rocetrace
