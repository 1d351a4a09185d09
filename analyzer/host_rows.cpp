// SPDX-License-Identifier: BSD-3-Clause
#include "host_rows.hpp"

#include <algorithm>
#include <map>

#include "findings/host_totals.hpp"

namespace rocetrace {

using roce::flow::CnpPace;
using roce::flow::HalfFlow;

namespace {

HostRow row_of(const HostTotals& totals) {
  HostRow row;
  row.received_packets = totals.received_packets;
  row.sent_packets = totals.sent_packets;
  HostCounters& host = row.counters;
  if (totals.received_packets > 0) {
    host.duplicate_request = totals.duplicate_request;
    host.packet_seq_err = totals.packet_seq_err;
    host.rnr_nak_retry_err = totals.rnr_nak_retry_err;
    host.np_ecn_marked_roce_packets = totals.np_ecn_marked_roce_packets;
    host.rp_cnp_handled = totals.rp_cnp_handled;
    host.rx_icrc_encapsulated = totals.rx_icrc_encapsulated;
    host.req_remote_access_errors = totals.req_remote_access_errors;
    host.req_remote_invalid_request = totals.req_remote_invalid_request;
    host.rx_read_requests = totals.rx_read_requests;
    host.rx_write_requests = totals.rx_write_requests;
    host.rx_atomic_requests = totals.rx_atomic_requests;
  }
  if (totals.sent_packets > 0) {
    host.out_of_sequence = totals.out_of_sequence;
    host.implied_nak_seq_err = totals.implied_nak_seq_err;
    host.local_ack_timeout_err = totals.local_ack_timeout_err;
    host.np_cnp_sent = totals.np_cnp_sent;
  }
  return row;
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
  std::map<u32, roce::flow::CnpIntervals> pacing;
  const roce::flow::FlowTable& flows = state.tracker.flows();
  for (u32 id = 1; id <= flows.size(); id++) {
    const HalfFlow& flow = flows.at(id);
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
  for (const auto& [address, totals] : host_totals(flows)) {
    HostRow row = row_of(totals);
    row.address = state.decoder.addresses().address(address).text().view();
    const auto port = state.tracker.cnp_scopes().by_source().find(address);
    if (port != state.tracker.cnp_scopes().by_source().end())
      row.cnp_pacing = pacing_of(pacing[address], port->second);
    rows.push_back(std::move(row));
  }
  std::ranges::sort(rows, {}, &HostRow::address);
  return rows;
}

}  // namespace rocetrace
