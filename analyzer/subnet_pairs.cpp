// SPDX-License-Identifier: BSD-3-Clause
#include "subnet_pairs.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "findings/marks.hpp"

namespace rocetrace {

using roce::flow::Connection;
using roce::flow::HalfFlow;
using roce::flow::Histogram;
using roce::flow::Times;

namespace {

struct Pair {
  SubnetPairRow row;
  Histogram ack, read, message;
  u64 requests = 0;
  u64 ecn_capable = 0;
  u64 first_time = ~u64{0}, last_time = 0;
};

MaybeDistribution distribution(const Histogram& histogram) {
  if (histogram.count() == 0) return std::nullopt;
  const roce::flow::Quantiles q = histogram.quantiles();
  return Distribution{q.count, q.min, q.p50, q.p90, q.p99, q.max, q.mean};
}

double ratio(u64 part, u64 whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A connection's times belong to the half-flow that asks; of two that ask, to both.
void add_times(const TraceState& state, const HalfFlow& flow, Pair& pair) {
  if (flow.connection == 0 || flow.requests.packets() == 0) return;
  const Connection& connection = state.tracker.connections()[flow.connection - 1];
  const auto merge = [&](Histogram& into, Times which) {
    if (connection.slot(which)) into.merge(*connection.slot(which));
  };
  merge(pair.ack, Times::ack);
  merge(pair.read, Times::read);
  merge(pair.message, Times::message);
}

void add(const TraceState& state, const HalfFlow& flow, Pair& pair) {
  const Codepoints ecn = codepoints_of(flow);
  pair.row.half_flows++;
  pair.row.packets += flow.packets();
  pair.row.payload_bytes += flow.payload_bytes;
  pair.row.retransmissions =
      pair.row.retransmissions.value_or(0) + flow.requests.trouble_counts().retransmissions;
  pair.row.ce_marked += ecn.ce;
  pair.ecn_capable += ecn.ce + ecn.capable;
  pair.requests += flow.requests.packets();
  pair.first_time = std::min(pair.first_time, flow.first_time);
  pair.last_time = std::max(pair.last_time, flow.last_time);
  if (flow.partner != 0) {
    const HalfFlow& back = state.tracker.flows().at(flow.partner);
    if (back.rare_state) pair.row.cnps += back.rare_state->cnp.packets;
  }
  add_times(state, flow, pair);
}

u64 slowness(const SubnetPairRow& row) {
  return std::max(row.ack_latency ? row.ack_latency->p50 : 0,
                  row.read_latency ? row.read_latency->p50 : 0);
}

}  // namespace

std::vector<SubnetPairRow> subnet_pairs(const TraceState& state, std::span<const u32> half_flows,
                                        const SubnetPrefix& prefix) {
  std::unordered_map<u32, std::string> subnets;  // by address id
  const auto subnet_of = [&](u32 address) -> const std::string& {
    std::string& known = subnets[address];
    if (known.empty()) known = subnet_text(state.decoder.addresses().address(address), prefix);
    return known;
  };
  std::map<std::pair<std::string, std::string>, Pair> pairs;
  for (const u32 id : half_flows) {
    const HalfFlow& flow = state.tracker.flows().at(id);
    add(state, flow, pairs[{subnet_of(flow.key.source), subnet_of(flow.key.destination)}]);
  }
  std::vector<SubnetPairRow> rows;
  for (auto& [subnet, pair] : pairs) {
    SubnetPairRow& row = pair.row;
    row.source = subnet.first;
    row.destination = subnet.second;
    row.retransmission_share = ratio(row.retransmissions.value_or(0), pair.requests);
    const u64 lasted = pair.last_time - std::min(pair.first_time, pair.last_time);
    if (lasted > 0)
      row.retransmissions_per_second = 1e9 * ratio(row.retransmissions.value_or(0), lasted);
    row.ce_share = ratio(row.ce_marked, pair.ecn_capable);
    row.ack_latency = distribution(pair.ack);
    row.read_latency = distribution(pair.read);
    row.message_time = distribution(pair.message);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, slowness);
  return rows;
}

}  // namespace rocetrace
