// SPDX-License-Identifier: BSD-3-Clause
// The text report's part on what stands beside RoCE: errors, pauses, classes of traffic, samples.

#pragma once

#include "report/formats.hpp"

namespace rocetrace {

/// Writes nothing when there is nothing of it.
void write_surroundings(const Report& report, const ReportStyle& style, Sink& out);

}  // namespace rocetrace
