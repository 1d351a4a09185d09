// SPDX-License-Identifier: BSD-3-Clause
#include "findings/cases.hpp"

#include <algorithm>
#include <map>

#include "findings/shared_queue.hpp"
#include "findings/words.hpp"

namespace rocetrace {

using roce::flow::HalfFlow;

namespace {

/// What cases may have in common, the narrowest first.
enum class Common : u8 { host_pair, responder, sender, subnet_pair, dscp, rest, queue };
constexpr std::array kCommons = {Common::host_pair, Common::responder, Common::sender,
                                 Common::subnet_pair, Common::dscp};
constexpr std::array<std::string_view, kCommons.size() + 2> kCommonNames = {
    "host_pair", "responder", "sender", "subnet_pair", "dscp", "rest", "queue"};

// A wider explanation has to explain this many times as much.
constexpr std::size_t kWider = 4;
constexpr std::size_t kListed = 20;       // half-flows in the evidence
constexpr std::size_t kMostOfAKind = 50;  // findings; what is left becomes one more

std::string value_of(const TraceView& trace, const HalfFlow& flow, Common common) {
  const std::string from = trace.address(flow.key.source);
  const std::string to = trace.address(flow.key.destination);
  switch (common) {
    case Common::host_pair: return from + " to " + to;
    case Common::responder: return to;
    case Common::sender: return from;
    case Common::subnet_pair:
      return subnet_of(trace, flow.key.source) + " to " + subnet_of(trace, flow.key.destination);
    case Common::dscp: {
      const auto dscp = usual_dscp(flow);
      return dscp ? std::to_string(*dscp) : "";
    }
    case Common::rest:
    case Common::queue: break;
  }
  return {};
}

std::string_view preposition(Common common) {
  switch (common) {
    case Common::host_pair: return "from ";
    case Common::responder: return "to ";
    case Common::sender: return "from ";
    case Common::subnet_pair: return "from subnet ";
    case Common::dscp: return "with DSCP ";
    case Common::rest: return "more, with nothing in common";
    case Common::queue: return "with ";
  }
  return {};
}

struct Group {
  Common common = Common::host_pair;
  std::string value;
  std::vector<std::size_t> members;  // indices of cases
  Evidence evidence = {};
};

// Of the cases still to be told, those with the best explanation in common.
Group best_group(const TraceView& trace, const std::vector<Case>& cases,
                 const std::vector<std::size_t>& left) {
  Group best;
  for (const Common common : kCommons) {
    std::map<std::string, std::vector<std::size_t>> by_value;
    for (const std::size_t i : left)
      by_value[value_of(trace, trace.flow(cases[i].half_flow), common)].push_back(i);
    // That all carry the same DSCP explains nothing when everything does.
    if (common == Common::dscp && by_value.size() < 2) continue;
    for (auto& [value, members] : by_value) {
      if (value.empty()) continue;
      const std::size_t needed =
          best.members.empty()
              ? kGrouped
              : (best.common == common ? best.members.size() + 1 : kWider * best.members.size());
      if (members.size() >= needed) best = {common, value, std::move(members)};
    }
  }
  return best;
}

// One queue of a switch, where that explains at least as many as a class or subnets do, or twice as
// many as a host.
Group narrowed(const TraceView& trace, const std::vector<Case>& cases,
               const std::vector<std::size_t>& left, Group best) {
  auto queue = shared_queue(trace, cases, left);
  if (!queue) return best;
  const bool host = best.common <= Common::sender;
  if (queue->members.size() < (host ? 2 : 1) * best.members.size()) return best;
  return {Common::queue,
          fmt::format("{}, from {} senders to {} hosts at the same time, where hardly any other "
                      "has it: one queue of a switch would explain that",
                      queue->what, queue->senders, queue->receivers),
          std::move(queue->members), std::move(queue->evidence)};
}

Finding single(const FindingKind& kind, const Case& one, Told told) {
  Finding finding{&kind,
                  one.severity,
                  {Scope::Of::half_flow, one.half_flow, 0},
                  one.seen,
                  std::move(told.evidence),
                  std::move(told.text)};
  finding.half_flows = {one.half_flow};
  return finding;
}

Finding grouped(const TraceView& trace, const FindingKind& kind, const std::vector<Case>& cases,
                const Group& group, const Tell& tell) {
  const Case& worst = cases[group.members.front()];
  const HalfFlow& flow = trace.flow(worst.half_flow);
  Finding finding = single(kind, worst, tell(worst));
  finding.half_flows.clear();
  finding.seen = {};
  for (const std::size_t i : group.members) {
    finding.severity = std::max(finding.severity, cases[i].severity);
    finding.seen.merge(cases[i].seen);
    if (finding.half_flows.size() < kListed) finding.half_flows.push_back(cases[i].half_flow);
  }
  switch (group.common) {
    case Common::host_pair:
      finding.scope = {Scope::Of::hosts, flow.key.source, flow.key.destination};
      break;
    case Common::responder: finding.scope = {Scope::Of::host, flow.key.destination, 0}; break;
    case Common::sender: finding.scope = {Scope::Of::host, flow.key.source, 0}; break;
    case Common::subnet_pair:
      finding.scope = {Scope::Of::hosts, flow.key.source, flow.key.destination};
      finding.subnets = group.value;
      break;
    case Common::dscp:
    case Common::rest:
    case Common::queue: finding.scope = {Scope::Of::capture, 0, 0}; break;
  }
  finding.text = fmt::format("{} half-flows {}{}: {} in all. The worst: {}",
                             human::grouped(group.members.size()), preposition(group.common),
                             group.value, human::grouped(finding.seen.count), finding.text);
  std::string ids;
  for (const u32 id : finding.half_flows) ids += fmt::format("{}{}", ids.empty() ? "" : " ", id);
  finding.evidence.emplace_back("grouped_by",
                                std::string(kCommonNames[static_cast<std::size_t>(group.common)]));
  finding.evidence.insert(finding.evidence.end(), group.evidence.begin(), group.evidence.end());
  finding.evidence.emplace_back("half_flows", u64{group.members.size()});
  finding.evidence.emplace_back("worst_half_flows", ids);
  return finding;
}

}  // namespace

void report_cases(const TraceView& trace, const FindingKind& kind, std::vector<Case> cases,
                  const Tell& tell, Findings& out) {
  std::ranges::stable_sort(cases, [](const Case& a, const Case& b) {
    if (a.severity != b.severity) return a.severity > b.severity;
    return a.weight > b.weight;
  });
  std::vector<std::size_t> left(cases.size());
  for (std::size_t i = 0; i < left.size(); i++) left[i] = i;
  const std::size_t most = out.found.size() + kMostOfAKind;
  while (left.size() >= kGrouped && out.found.size() < most) {
    const Group group = narrowed(trace, cases, left, best_group(trace, cases, left));
    if (group.members.size() < kGrouped) break;
    out.found.push_back(grouped(trace, kind, cases, group, tell));
    std::erase_if(left,
                  [&](std::size_t i) { return std::ranges::binary_search(group.members, i); });
  }
  while (!left.empty() && (out.found.size() < most || left.size() == 1)) {
    const Case& one = cases[left.front()];
    out.found.push_back(single(kind, one, tell(one)));
    left.erase(left.begin());
  }
  if (!left.empty())
    out.found.push_back(grouped(trace, kind, cases, {Common::rest, "", std::move(left), {}}, tell));
}

}  // namespace rocetrace
