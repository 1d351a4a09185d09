// SPDX-License-Identifier: BSD-3-Clause
#include "report/unjudged.hpp"

#include <algorithm>

namespace rocetrace {

std::vector<std::pair<std::string, std::string>> unjudged_by_reason(const Report& report) {
  using Reason = std::pair<std::string, std::string>;
  std::vector<Reason> reasons;
  for (const UnjudgedRow& row : report.could_not_judge) {
    const auto known = std::ranges::find(reasons, row.text, &Reason::first);
    if (known == reasons.end()) {
      reasons.emplace_back(row.text, row.id);
    } else {
      known->second += ", " + row.id;
    }
  }
  return reasons;
}

}  // namespace rocetrace
