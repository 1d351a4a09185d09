// SPDX-License-Identifier: BSD-3-Clause
// What could not be judged, for people: the kinds that share a reason together.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace rocetrace {

/// Each reason once, with its ids as "nak.sequence, rnr.storm", in the order of the report.
std::vector<std::pair<std::string, std::string>> unjudged_by_reason(const Report& report);

}  // namespace rocetrace
