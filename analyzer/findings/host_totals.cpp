// SPDX-License-Identifier: BSD-3-Clause
#include "findings/host_totals.hpp"

namespace rocetrace {

using roce::flow::Cause;
using roce::flow::HalfFlow;
using roce::flow::RareState;
using roce::flow::TroubleCounts;
using roce::flow::Verb;

namespace {

void add_received(const HalfFlow& flow, HostTotals& host) {
  const auto verb = [&](Verb which) { return flow.verbs[static_cast<std::size_t>(which)]; };
  host.received_packets += flow.packets();
  host.duplicate_request += flow.requests.trouble_counts().duplicate_requests;
  host.rx_read_requests += verb(Verb::read);
  host.rx_write_requests += verb(Verb::write);
  host.rx_atomic_requests += verb(Verb::atomic);
  host.np_ecn_marked_roce_packets += flow.ce_marked;
  if (!flow.rare_state) return;
  const RareState& rare = *flow.rare_state;
  host.rx_icrc_encapsulated += rare.icrc_bad;
  host.packet_seq_err += rare.naks[0];
  host.req_remote_invalid_request += rare.naks[1];
  host.req_remote_access_errors += rare.naks[2];
  host.rnr_nak_retry_err += rare.rnr_naks;
  host.rp_cnp_handled += rare.cnp.packets;
}

void add_sent(const HalfFlow& flow, HostTotals& host) {
  const TroubleCounts trouble = flow.requests.trouble_counts();
  const auto episodes = [&](Cause cause) {
    return trouble.episodes_by_cause[static_cast<std::size_t>(cause)];
  };
  host.sent_packets += flow.packets();
  host.implied_nak_seq_err += episodes(Cause::implied_nak);
  host.local_ack_timeout_err += episodes(Cause::timeout);
  if (!flow.rare_state) return;
  host.out_of_sequence += flow.rare_state->naks[0];
  host.np_cnp_sent += flow.rare_state->cnp.packets;
}

}  // namespace

HostTotals& HostTotals::operator+=(const HostTotals& other) {
  constexpr u64 HostTotals::*kAll[] = {&HostTotals::received_packets,
                                       &HostTotals::duplicate_request,
                                       &HostTotals::packet_seq_err,
                                       &HostTotals::rnr_nak_retry_err,
                                       &HostTotals::np_ecn_marked_roce_packets,
                                       &HostTotals::rp_cnp_handled,
                                       &HostTotals::rx_icrc_encapsulated,
                                       &HostTotals::req_remote_access_errors,
                                       &HostTotals::req_remote_invalid_request,
                                       &HostTotals::rx_read_requests,
                                       &HostTotals::rx_write_requests,
                                       &HostTotals::rx_atomic_requests,
                                       &HostTotals::sent_packets,
                                       &HostTotals::out_of_sequence,
                                       &HostTotals::implied_nak_seq_err,
                                       &HostTotals::local_ack_timeout_err,
                                       &HostTotals::np_cnp_sent};
  static_assert(sizeof(HostTotals) == sizeof(u64) * std::size(kAll));
  for (const auto member : kAll) this->*member += other.*member;
  return *this;
}

std::map<u32, HostTotals> host_totals(const roce::flow::FlowTable& flows) {
  std::map<u32, HostTotals> hosts;
  for (u32 id = 1; id <= flows.size(); id++) {
    const HalfFlow& flow = flows.at(id);
    add_received(flow, hosts[flow.key.destination]);
    add_sent(flow, hosts[flow.key.source]);
  }
  return hosts;
}

}  // namespace rocetrace
