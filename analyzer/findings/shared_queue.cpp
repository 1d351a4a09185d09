// SPDX-License-Identifier: BSD-3-Clause
#include "findings/shared_queue.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

constexpr u64 kTogether = 1'000'000;    // nanoseconds within which marks begin together
constexpr std::size_t kHardlyAny = 10;  // of so many other half-flows, one may share it

// The one VLAN priority of all packets of a half-flow; nothing when there are several, or no tags.
std::optional<u8> priority_of(const HalfFlow& flow) {
  std::optional<u8> priority;
  if (!flow.rare_state || flow.rare_state->vlans.more() > 0) return std::nullopt;
  for (const auto& vlan : flow.rare_state->vlans) {
    const auto own = static_cast<u8>(vlan.value >> 13);
    if (priority && *priority != own) return std::nullopt;
    priority = own;
  }
  return priority;
}

// When the first CE mark of a half-flow was seen; nothing without one.
std::optional<u64> first_mark_of(const HalfFlow& flow) {
  if (flow.ce_marked == 0 || !flow.rare_state) return std::nullopt;
  return flow.rare_state->first_ce_time;
}

bool lasts_over(const HalfFlow& flow, u64 moment) {
  return flow.first_time <= moment && moment <= flow.last_time;
}

// The moment at which the trouble of most of `members` goes on, and those of them.
std::pair<u64, std::vector<std::size_t>> at_one_moment(const std::vector<Case>& cases,
                                                       const std::vector<std::size_t>& members) {
  std::map<u64, std::pair<int, int>> edges;  // beginnings and ends
  for (const std::size_t i : members) {
    edges[cases[i].seen.first_time].first++;
    edges[cases[i].seen.last_time].second++;
  }
  int now = 0, most = 0;
  u64 moment = 0;
  for (const auto& [time, edge] : edges) {
    now += edge.first;
    if (now > most) most = now, moment = time;
    now -= edge.second;
  }
  std::vector<std::size_t> kept;
  for (const std::size_t i : members)
    if (cases[i].seen.first_time <= moment && moment <= cases[i].seen.last_time) kept.push_back(i);
  return {moment, kept};
}

// Those of `members` that one queue would explain, when `shares` holds of them and of hardly any
// other half-flow with data at that moment; without others it says nothing.
template <class Shares>
std::optional<SharedQueue> one_queue(const TraceView& trace, const std::vector<Case>& cases,
                                     const std::vector<std::size_t>& members, Shares shares) {
  SharedQueue queue;
  u64 moment = 0;
  std::tie(moment, queue.members) = at_one_moment(cases, members);
  if (queue.members.size() < kGrouped || 10 * queue.members.size() < 9 * members.size())
    return std::nullopt;
  std::set<u32> senders, receivers, own;
  for (const std::size_t i : queue.members) {
    const HalfFlow& flow = trace.flow(cases[i].half_flow);
    senders.insert(flow.key.source);
    receivers.insert(flow.key.destination);
    own.insert(flow.id);
  }
  // What all go to, or come from, is a host's affair.
  if (senders.size() < 2 || receivers.size() < 2) return std::nullopt;
  std::size_t others = 0, sharing = 0;
  trace.each_flow([&](const HalfFlow& flow) {
    if (own.contains(flow.id) || !is_traffic(flow) || flow.payload_bytes == 0) return;
    if (!lasts_over(flow, moment)) return;
    others++;
    if (shares(flow)) sharing++;
  });
  if (others == 0 || sharing * kHardlyAny > others) return std::nullopt;
  queue.senders = senders.size();
  queue.receivers = receivers.size();
  return queue;
}

void keep_larger(std::optional<SharedQueue>& best, std::optional<SharedQueue> other) {
  if (other && (!best || other->members.size() > best->members.size())) best = std::move(other);
}

// The beginnings of the marks of one queue lie close together.
std::optional<SharedQueue> marked_together(const TraceView& trace, const std::vector<Case>& cases,
                                           const std::vector<std::size_t>& left) {
  std::vector<std::pair<u64, std::size_t>> starts;
  for (const std::size_t i : left)
    if (const auto start = first_mark_of(trace.flow(cases[i].half_flow)))
      starts.emplace_back(*start, i);
  std::ranges::sort(starts);
  std::size_t first = 0, begin = 0, most = 0;
  for (std::size_t end = 0; end < starts.size(); end++) {
    while (starts[end].first - starts[first].first > kTogether) first++;
    if (end + 1 - first > most) most = end + 1 - first, begin = first;
  }
  if (most < kGrouped) return std::nullopt;
  const u64 since = starts[begin].first, until = starts[begin + most - 1].first;
  std::vector<std::size_t> members;
  for (std::size_t k = begin; k < begin + most; k++) members.push_back(starts[k].second);
  std::ranges::sort(members);
  auto queue = one_queue(trace, cases, members, [&](const HalfFlow& flow) {
    const auto start = first_mark_of(flow);
    return start && *start + kTogether >= since && *start <= until + kTogether;
  });
  if (!queue) return std::nullopt;
  queue->what = fmt::format("CE marks that began within {}", human::duration(until - since));
  queue->evidence = {{"marks_began_within_ns", until - since}};
  return queue;
}

}  // namespace

std::optional<SharedQueue> shared_queue(const TraceView& trace, const std::vector<Case>& cases,
                                        const std::vector<std::size_t>& left) {
  std::map<u8, std::vector<std::size_t>> by_priority;
  for (const std::size_t i : left)
    if (const auto priority = priority_of(trace.flow(cases[i].half_flow)))
      by_priority[*priority].push_back(i);
  std::optional<SharedQueue> best;
  for (const auto& [priority, members] : by_priority) {
    const auto has_it = [&of = priority](const HalfFlow& flow) { return priority_of(flow) == of; };
    auto queue = one_queue(trace, cases, members, has_it);
    if (!queue) continue;
    queue->what = fmt::format("VLAN priority {}", priority);
    queue->evidence = {{"vlan_priority", u64{priority}}};
    keep_larger(best, std::move(queue));
  }
  keep_larger(best, marked_together(trace, cases, left));
  return best;
}

}  // namespace rocetrace
