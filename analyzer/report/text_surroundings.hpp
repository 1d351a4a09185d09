// SPDX-License-Identifier: BSD-3-Clause
// The text report's part on what stands beside RoCE: errors, pauses, classes of traffic, samples.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/formats.hpp"

namespace rocetrace {

/// A list about one of them, worded for people.
struct SurroundingLines {
  std::string_view title;
  std::vector<std::string> lines{};
  std::size_t all = 0;  // lines that there would be
};

/// Those that have any lines, each with `most` lines at most.
std::vector<SurroundingLines> surrounding_lines(const Report& report, std::size_t most);

/// Writes nothing when there is nothing of it.
void write_surroundings(const Report& report, const ReportStyle& style, Sink& out);

}  // namespace rocetrace
