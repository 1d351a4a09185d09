// SPDX-License-Identifier: BSD-3-Clause
#include "host_rows.hpp"

#include <algorithm>
#include <map>

#include "findings/cnp_intervals.hpp"
#include "findings/host_totals.hpp"

namespace rocetrace {

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

std::optional<CnpPacing> pacing_of(const roce::flow::CnpIntervals& seen) {
  if (seen.of_queue_pair == 0) return std::nullopt;
  switch (seen.fitting()) {
    case roce::flow::CnpScope::port: return CnpPacing{"port", seen.of_port};
    case roce::flow::CnpScope::destination: return CnpPacing{"destination", seen.of_destination};
    case roce::flow::CnpScope::queue_pair: break;
  }
  return CnpPacing{"qp", seen.of_queue_pair};
}

}  // namespace

std::vector<HostRow> host_rows(const TraceState& state) {
  const auto pacing = cnp_intervals(state.tracker);
  std::vector<HostRow> rows;
  for (const auto& [address, totals] : host_totals(state.tracker.flows())) {
    HostRow row = row_of(totals);
    row.address = state.decoder.addresses().address(address).text().view();
    if (const auto nic = pacing.find(address); nic != pacing.end())
      row.cnp_pacing = pacing_of(nic->second);
    rows.push_back(std::move(row));
  }
  std::ranges::sort(rows, {}, &HostRow::address);
  return rows;
}

}  // namespace rocetrace
