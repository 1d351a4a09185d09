// SPDX-License-Identifier: BSD-3-Clause
// A tap sees what passes it, not what arrives: counts of what a host received hold for a tap at
// that host, and are an upper bound elsewhere. The names are those of Linux's hw_counters.

#include "host_rows.hpp"

#include <algorithm>
#include <map>

namespace rocetrace {

using roce::flow::Cause;
using roce::flow::CnpPace;
using roce::flow::HalfFlow;
using roce::flow::RareState;
using roce::flow::TroubleCounts;
using roce::flow::Verb;

namespace {

void add(std::optional<u64>& counter, u64 count) {
  counter = counter.value_or(0) + count;
}

// The host whose QP the half-flow leads to: it receives the requests, and the answers to its own.
void add_received(const HalfFlow& flow, HostCounters& host) {
  const TroubleCounts trouble = flow.requests.trouble_counts();
  const auto verb = [&](Verb which) { return flow.verbs[static_cast<std::size_t>(which)]; };
  const RareState none;
  const RareState& rare = flow.rare_state ? *flow.rare_state : none;
  add(host.duplicate_request, trouble.duplicate_requests);
  add(host.rx_read_requests, verb(Verb::read));
  add(host.rx_write_requests, verb(Verb::write));
  add(host.rx_atomic_requests, verb(Verb::atomic));
  add(host.np_ecn_marked_roce_packets, flow.ce_marked);
  add(host.rx_icrc_encapsulated, rare.icrc_bad);
  add(host.packet_seq_err, rare.naks[0]);
  add(host.req_remote_invalid_request, rare.naks[1]);
  add(host.req_remote_access_errors, rare.naks[2]);
  add(host.rnr_nak_retry_err, rare.rnr_naks);
  add(host.rp_cnp_handled, rare.cnp.packets);
}

// The host that sends the half-flow. A responder tells of a gap by one NAK, whatever the tap saw.
void add_sent(const HalfFlow& flow, HostCounters& host) {
  const TroubleCounts trouble = flow.requests.trouble_counts();
  const auto episodes = [&](Cause cause) {
    return trouble.episodes_by_cause[static_cast<std::size_t>(cause)];
  };
  add(host.implied_nak_seq_err, episodes(Cause::implied_nak));
  add(host.local_ack_timeout_err, episodes(Cause::timeout));
  add(host.out_of_sequence, flow.rare_state ? flow.rare_state->naks[0] : 0);
  add(host.np_cnp_sent, flow.rare_state ? flow.rare_state->cnp.packets : 0);
}

/// What the CNPs of one NIC say of their pacing.
struct Pacing {
  u64 shortest_of_qp = 0, shortest_of_destination = 0;
  u32 qps = 0, destinations = 0;
};

void take_shorter(u64& shortest, u64 interval) {
  if (interval != 0 && (shortest == 0 || interval < shortest)) shortest = interval;
}

// A scope fits if intervals within it are not shorter than within a QP; it must hold several of the
// next scope, or it says nothing.
std::optional<CnpPacing> pacing_of(const Pacing& seen, const CnpPace& port) {
  if (seen.shortest_of_qp == 0) return std::nullopt;
  const auto fits = [&](u64 shortest) {
    return shortest != 0 &&
           static_cast<double>(shortest) > 0.8 * static_cast<double>(seen.shortest_of_qp);
  };
  if (seen.destinations > 1 && fits(port.shortest)) return CnpPacing{"port", port.shortest};
  if (seen.qps > seen.destinations && fits(seen.shortest_of_destination))
    return CnpPacing{"destination", seen.shortest_of_destination};
  return CnpPacing{"qp", seen.shortest_of_qp};
}

}  // namespace

std::vector<HostRow> host_rows(const TraceState& state) {
  std::map<u32, HostRow> hosts;
  std::map<u32, Pacing> pacing;
  const roce::flow::FlowTable& flows = state.tracker.flows();
  for (u32 id = 1; id <= flows.size(); id++) {
    const HalfFlow& flow = flows.at(id);
    HostRow& receiver = hosts[flow.key.destination];
    receiver.received_packets += flow.packets();
    add_received(flow, receiver.counters);
    HostRow& sender = hosts[flow.key.source];
    sender.sent_packets += flow.packets();
    add_sent(flow, sender.counters);
    if (!flow.rare_state || flow.rare_state->cnp.packets == 0) continue;
    Pacing& nic = pacing[flow.key.source];
    nic.qps++;
    const roce::flow::Histogram& intervals = flow.rare_state->cnp.intervals;
    if (intervals.count() > 0) take_shorter(nic.shortest_of_qp, std::max<u64>(intervals.min(), 1));
  }
  for (const auto& [pair, pace] : state.tracker.cnp_scopes().by_pair()) {
    Pacing& nic = pacing[pair.first];
    nic.destinations++;
    take_shorter(nic.shortest_of_destination, pace.shortest);
  }

  std::vector<HostRow> rows;
  for (auto& [address, row] : hosts) {
    row.address = state.decoder.addresses().address(address).text().view();
    const auto port = state.tracker.cnp_scopes().by_source().find(address);
    if (port != state.tracker.cnp_scopes().by_source().end())
      row.cnp_pacing = pacing_of(pacing[address], port->second);
    rows.push_back(row);
  }
  std::ranges::sort(rows, {}, &HostRow::address);
  return rows;
}

}  // namespace rocetrace
