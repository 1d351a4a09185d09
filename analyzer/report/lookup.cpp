// SPDX-License-Identifier: BSD-3-Clause
// Rows found by what they are about. See lookup.hpp.

#include "report/lookup.hpp"

namespace rocetrace {

std::optional<HalfFlowRow> half_flow(const Report& report, u64 id) {
  std::size_t low = 0;
  std::size_t high = report.half_flows.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    HalfFlowRow row = report.half_flows.at(middle);
    if (row.id == id) return row;
    (row.id < id ? low : high) = row.id < id ? middle + 1 : middle;
  }
  return std::nullopt;
}

std::optional<u64> partner_in(const ConnectionRow& connection, u64 half_flow) {
  const auto& [one, other] = connection.half_flows;
  return one == half_flow ? other : one;
}

std::map<u64, ConnectionRow> connections_of(const Report& report, const std::vector<u64>& ids) {
  std::map<u64, ConnectionRow> found;
  for (const u64 id : ids) found[id];
  report.connections.each([&](const ConnectionRow& connection) {
    for (const std::optional<u64>& id : connection.half_flows) {
      if (!id) continue;
      if (const auto at = found.find(*id); at != found.end()) at->second = connection;
    }
  });
  std::erase_if(found, [](const auto& entry) { return entry.second.id == 0; });
  return found;
}

}  // namespace rocetrace
