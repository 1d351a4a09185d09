// SPDX-License-Identifier: BSD-3-Clause
// What the NIC of each host should have counted, as far as the tap can tell. The names are those of
// Linux's hw_counters (mlx5).
//
// A tap sees what passes it, not what arrives: counts of what a host received hold for a tap at
// that host, and are an upper bound elsewhere.

#pragma once

#include <map>

#include "findings/finding.hpp"
#include "roce/flow/flow_table.hpp"

namespace rocetrace {

struct HostTotals {
  // Of the half-flows that lead to the host.
  u64 received_packets = 0;
  u64 duplicate_request = 0;
  u64 packet_seq_err = 0;
  u64 rnr_nak_retry_err = 0;
  u64 np_ecn_marked_roce_packets = 0;
  u64 rp_cnp_handled = 0;
  u64 rx_icrc_encapsulated = 0;
  u64 req_remote_access_errors = 0;
  u64 req_remote_invalid_request = 0;
  u64 rx_read_requests = 0;
  u64 rx_write_requests = 0;
  u64 rx_atomic_requests = 0;
  // Of those that it sends.
  u64 sent_packets = 0;
  u64 out_of_sequence = 0;  // a responder tells of a gap by one NAK, whatever the tap saw
  u64 implied_nak_seq_err = 0;
  u64 local_ack_timeout_err = 0;
  u64 np_cnp_sent = 0;

  HostTotals& operator+=(const HostTotals& other);
};

/// By address id.
std::map<u32, HostTotals> host_totals(const roce::flow::FlowTable& flows);

}  // namespace rocetrace
