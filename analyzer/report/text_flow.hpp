// SPDX-License-Identifier: BSD-3-Clause
// One half-flow for people: the block of the worst ones, and the line of a table.

#pragma once

#include <optional>

#include "report/columns.hpp"
#include "report/formats.hpp"

namespace rocetrace {

/// The columns that flow_cells() fills.
Columns flow_columns();
std::vector<std::string> flow_cells(const HalfFlowRow& row);

/// The connection that a half-flow is part of, and its other half, when they are known.
struct OtherSide {
  ConnectionRow connection;
  std::optional<HalfFlowRow> row;
};

/// Everything about a half-flow that is not zero, in a few lines, with what came back to it.
void write_flow(const HalfFlowRow& row, const std::optional<OtherSide>& other,
                const ReportStyle& style, Sink& out);

/// The columns that connection_cells() fills; the ends are the two QPs.
Columns connection_columns();
std::vector<std::string> connection_cells(const ConnectionRow& row, std::string one_end,
                                          std::string other_end);

}  // namespace rocetrace
