// SPDX-License-Identifier: BSD-3-Clause
// Tracker: what is counted of every packet, over time and by its marking; CNPs.

#pragma once

#include "roce/flow/tracker.hpp"

namespace roce::flow {

// Of a bin that is over.
[[gnu::noinline]] inline void Tracker::account_late(HalfFlow& flow, const Observation& packet) {
  note_bin(flow);
  count(flow, packet);
  note_bin(flow);
}

[[gnu::noinline]] inline void Tracker::leave_bin(u64 time) {
  constexpr std::size_t kAhead = 8;
  const std::size_t count = bin_flows_.size();
  for (std::size_t i = 0; i < count + 2 * kAhead; i++) {
    if (i < count) {
      const HalfFlow& flow = flows_.at(bin_flows_[i]);
      __builtin_prefetch(&flow.key);
      __builtin_prefetch(&flow.verbs);
    }
    if (i >= kAhead && i - kAhead < count)
      __builtin_prefetch(flows_.at(bin_flows_[i - kAhead]).bins.next_address(), 1);
    if (i >= 2 * kAhead) note_bin(flows_.at(bin_flows_[i - 2 * kAhead]));
  }
  bin_flows_.clear();
  clock_.advance(time);
}

inline void Tracker::note_bin(HalfFlow& flow) {
  if (flow.packets_low > 0)
    flow.bins.note(clock_.bin(flow.last_time), totals(flow), clock_.shift());
}

[[gnu::noinline]] inline void Tracker::note_marking(HalfFlow& flow, const Observation& packet) {
  const Marking marking = Marking::of(packet, flow.marking);
  if (marking != flow.marking) {
    flow.flush_marking();
    flow.marking = marking;
  }
  if (packet.ecn() != 3) return;
  RareState& rare = flow.rare();
  if (flow.ce_marked == 0) {
    rare.first_ce_frame = packet.frame;
    rare.first_ce_time = packet.time;
  }
  rare.last_ce_frame = packet.frame;
  flow.last_ce_time = packet.time;
  flow.ces_since_cnp++;
  flow.ce_marked++;
}

inline BinTotals Tracker::totals(const HalfFlow& flow) {
  BinTotals now{.wire_bytes = flow.wire_bytes,
                .payload_bytes = flow.payload_bytes,
                .packets = flow.packets_low,
                .ce = flow.ce_marked};
  if (const Recovery* recovery = flow.requests.recovery())
    now.retransmissions = static_cast<u32>(recovery->counts.retransmissions);
  if (flow.rare_state) {
    now.cnps = static_cast<u32>(flow.rare_state->cnp.packets);
  }
  return now;
}

[[gnu::noinline]] inline void Tracker::observe_cnp(HalfFlow& flow, const Observation& packet,
                                                   Arrival& arrival) {
  arrival.stream = StreamKind::cnp;
  CnpState& cnp = flow.rare().cnp;
  if (cnp.packets == 0) cnp.first_time = packet.time;
  const u64 interval = packet.time - std::min(cnp.last_time, packet.time);
  if (cnp.packets++ > 0) cnp.intervals.add(interval);
  cnp_scopes_.note(packet);
  if (HalfFlow* sender = partner_of(flow)) {
    if (sender->ces_since_cnp > 0 && packet.time >= sender->last_ce_time) {
      sample(flow.connection, Times::ce_to_cnp, packet.time - sender->last_ce_time);
    }
    if (sender->ce_marked == 0) cnp.without_ce++;
    cnp.ces += std::exchange(sender->ces_since_cnp, 0u);
    note_rate(cnp, sender->payload_bytes, interval);
  }
  cnp.last_time = packet.time;
}

// Whether the sender's data rate since the CNP before is lower than it was up to then.
inline void Tracker::note_rate(CnpState& cnp, u64 bytes, u64 interval) {
  if (cnp.packets > 1 && interval > 0) {
    // Another QP may have become the sender since, with fewer bytes to its name.
    const u64 passed = bytes - std::min(cnp.bytes_at_last, bytes);
    const auto rate = static_cast<u64>(
        std::min(static_cast<double>(passed) * 1e9 / static_cast<double>(interval), 1e18));
    const bool comparable = cnp.packets > 2 && (rate != 0 || cnp.rate_before_last != 0);
    if (comparable) (rate < cnp.rate_before_last ? cnp.rate_cut : cnp.rate_kept)++;
    cnp.rate_before_last = rate;
  }
  cnp.bytes_at_last = bytes;
}

}  // namespace roce::flow
