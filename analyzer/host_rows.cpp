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

void take_shorter(u64& shortest, u64 interval) {
  if (interval != 0 && (shortest == 0 || interval < shortest)) shortest = interval;
}

std::optional<CnpPacing> pacing_of(roce::flow::CnpIntervals seen, const CnpPace& port) {
  if (seen.of_queue_pair == 0) return std::nullopt;
  seen.of_port = port.shortest;
  switch (seen.fitting()) {
    case roce::flow::CnpScope::port: return CnpPacing{"port", seen.of_port};
    case roce::flow::CnpScope::destination: return CnpPacing{"destination", seen.of_destination};
    case roce::flow::CnpScope::queue_pair: break;
  }
  return CnpPacing{"qp", seen.of_queue_pair};
}

}  // namespace

std::vector<HostRow> host_rows(const TraceState& state) {
  std::map<u32, HostRow> hosts;
  std::map<u32, roce::flow::CnpIntervals> pacing;
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
    roce::flow::CnpIntervals& nic = pacing[flow.key.source];
    nic.queue_pairs++;
    const roce::flow::Histogram& intervals = flow.rare_state->cnp.intervals;
    if (intervals.count() > 0) take_shorter(nic.of_queue_pair, std::max<u64>(intervals.min(), 1));
  }
  for (const auto& [pair, pace] : state.tracker.cnp_scopes().by_pair()) {
    roce::flow::CnpIntervals& nic = pacing[pair.first];
    nic.destinations++;
    take_shorter(nic.of_destination, pace.shortest);
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
