// SPDX-License-Identifier: BSD-3-Clause
// The text report's tables on the trace as a whole: by time, by subnet, by size of message.

#pragma once

#include "report/columns.hpp"
#include "report/formats.hpp"

namespace rocetrace {

/// Each writes nothing when there is nothing of it.
void write_time_bins(const Report& report, const ReportStyle& style, Sink& out);
/// At most `most` pairs of subnets, slowest first.
Columns subnet_pairs_table(const Report& report, std::size_t most);
void write_subnet_pairs(const Report& report, const ReportStyle& style, Sink& out);
void write_message_times(const Report& report, const ReportStyle& style, Sink& out);

}  // namespace rocetrace
