// SPDX-License-Identifier: BSD-3-Clause
// What deserves to be shown. See topics.hpp.

#include "report/topics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "report/lookup.hpp"
#include "report/ranking.hpp"

namespace rocetrace {
namespace {

// The half-flows that findings about hosts concern, collected in one pass over the table. Of many,
// those in trouble are kept.
class HostFlows {
 public:
  HostFlows(const Report& report, std::size_t most) : most_{most} {
    for (const FindingRow& finding : report.findings) {
      if (finding.scope.host) flows_[*finding.scope.host];
      if (finding.scope.hosts)
        for (const std::string& host : *finding.scope.hosts) flows_[host];
    }
    if (flows_.empty()) return;
    report.half_flows.each([&](const HalfFlowRow& row) {
      const Trouble trouble = trouble_of(row);
      add(row.source, row.id, trouble);
      add(row.destination, row.id, trouble);
    });
  }

  std::vector<u64> of(const std::string& host) const {
    std::vector<u64> ids;
    const auto at = flows_.find(host);
    if (at == flows_.end()) return ids;
    for (const auto& [trouble, id] : at->second) ids.push_back(id);
    return ids;
  }

 private:
  using Kept = std::vector<std::pair<Trouble, u64>>;  // a heap, the least bad on top

  void add(const std::string& host, u64 id, const Trouble& trouble) {
    const auto at = flows_.find(host);
    if (at == flows_.end()) return;
    const auto worse = [](const auto& a, const auto& b) { return a.first > b.first; };
    Kept& kept = at->second;
    kept.emplace_back(trouble, id);
    std::ranges::push_heap(kept, worse);
    if (kept.size() <= most_) return;
    std::ranges::pop_heap(kept, worse);
    kept.pop_back();
  }

  std::unordered_map<std::string, Kept> flows_;
  std::size_t most_;
};

// What the scope names; the partners of half-flows are added later.
std::vector<u64> scope_flows(const FindingScope& scope, const HostFlows& hosts,
                             const Report& report) {
  std::vector<u64> ids;
  if (scope.half_flow) ids.push_back(*scope.half_flow);
  if (scope.connection && *scope.connection <= report.connections.size()) {
    const ConnectionRow row = report.connections.at(*scope.connection - 1);
    for (const std::optional<u64>& id : row.half_flows)
      if (id) ids.push_back(*id);
  }
  if (scope.host) ids = hosts.of(*scope.host);
  if (scope.hosts && scope.hosts->size() == 2) {
    // Half-flows between the two, or what is known of either.
    const std::vector<u64> one = hosts.of((*scope.hosts)[0]);
    for (const u64 id : hosts.of((*scope.hosts)[1]))
      if (std::ranges::count(one, id) > 0) ids.push_back(id);
  }
  return ids;
}

void add_partners(const Report& report, std::vector<Topic>& topics) {
  std::vector<u64> all;
  for (const Topic& topic : topics)
    all.insert(all.end(), topic.half_flows.begin(), topic.half_flows.end());
  const std::map<u64, ConnectionRow> connections = connections_of(report, all);
  for (Topic& topic : topics) {
    std::vector<u64>& ids = topic.half_flows;
    for (std::size_t i = 0, own = ids.size(); i < own; ++i) {
      const auto at = connections.find(ids[i]);
      const auto partner =
          at != connections.end() ? partner_in(at->second, ids[i]) : std::optional<u64>{};
      if (partner) ids.push_back(*partner);
    }
    std::ranges::sort(ids);
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
}

}  // namespace

std::vector<Topic> topics(const Report& report, std::size_t most, std::size_t most_flows) {
  std::vector<Topic> all;
  const HostFlows hosts{report, most_flows};
  for (const FindingRow& finding : report.findings) {
    if (all.size() == most) break;
    all.push_back({.what = fmt::format("{} ({})", finding.id, finding.severity),
                   .first_frame = finding.first_frame.value_or(0),
                   .last_frame = finding.last_frame.value_or(0),
                   .half_flows = scope_flows(finding.scope, hosts, report)});
  }
  add_partners(report, all);
  // The worst half-flows that no finding shows.
  std::vector<u64> shown;
  for (const Topic& topic : all)
    shown.insert(shown.end(), topic.half_flows.begin(), topic.half_flows.end());
  std::ranges::sort(shown);
  std::vector<Topic> more;
  for (const Ranked& ranked : rank(report.half_flows, most - all.size()).worst) {
    if (ranked.trouble.kind == Trouble::Kind::none) break;
    const HalfFlowRow row = report.half_flows.at(ranked.index);
    if (std::ranges::binary_search(shown, row.id)) continue;
    more.push_back({.what = "one of the worst half-flows",
                    .first_frame = row.first_frame,
                    .last_frame = row.last_frame,
                    .half_flows = {row.id}});
  }
  add_partners(report, more);
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

}  // namespace rocetrace
