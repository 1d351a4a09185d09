// SPDX-License-Identifier: BSD-3-Clause
// The severities of findings, least first.

#pragma once

#include <algorithm>
#include <string_view>

#include "report/report.hpp"

namespace rocetrace {

inline constexpr Word kSeverities[] = {"info", "warning", "error"};

/// Whether a finding is at least as severe as `least`; never, when `least` is empty.
inline bool has_finding_at(const Report& report, std::string_view least) {
  if (least.empty()) return false;
  const auto* from = std::ranges::find(kSeverities, least);
  return std::ranges::any_of(report.findings, [&](const FindingRow& finding) {
    return std::find(from, std::end(kSeverities), finding.severity) != std::end(kSeverities);
  });
}

}  // namespace rocetrace
