// SPDX-License-Identifier: BSD-3-Clause
// Tracker: which two half-flows belong together.

#pragma once

#include "roce/flow/tracker.hpp"

namespace roce::flow {

[[gnu::noinline]] inline void Tracker::note_unpaired(HalfFlow& flow, const Observation& packet) {
  // A half-flow that stays alone, as in a capture of one direction, is noted ever more rarely.
  const u32 count = ++flow.unpaired_requests;
  if (count > 1024 && (count & 63) != 0) return;
  pairing_.note_request(flow.key, packet.psn, flow.id, packet.frame);
}

[[gnu::noinline]] inline void Tracker::find_partner(HalfFlow& flow, const Observation& packet,
                                                    OpcodeTraits traits) {
  if (traits.is(kReadResponse) && !traits.is(kStarts)) return;
  u32 found = 0;
  bool unclear = false;
  const auto consider = [&](u32 id) {
    const HalfFlow& candidate = flows_.at(id);
    if (candidate.partner != 0 || candidate.service != flow.service) return;
    unclear = unclear || (found != 0 && found != id);
    found = id;
  };
  pairing_.candidates(flow.key, packet.psn, consider);
  if (traits.is(kAcknowledge) && Syndrome(packet.syndrome()).is_nak()) {
    // The PSN it asks for may never have passed the tap; its neighbours did.
    pairing_.candidates(flow.key, (packet.psn - 1) & 0xff'ffff, consider);
    pairing_.candidates(flow.key, (packet.psn + 1) & 0xff'ffff, consider);
  }
  if (found == 0 || unclear) return;
  join(flow, flows_.at(found), Evidence::psn);
  connections_.back().responses_before--;  // `packet` itself speaks for the pair
}

inline void Tracker::join(HalfFlow& one, HalfFlow& other, Evidence evidence) {
  Connection& connection = connections_.emplace_back();
  connection.id = static_cast<u32>(connections_.size());
  connection.flows = {std::min(one.id, other.id), std::max(one.id, other.id)};
  connection.evidence = evidence;
  connection.responses_before = responses_of(connection);
  one.partner = other.id;
  other.partner = one.id;
  one.connection = other.connection = connection.id;
  const u16 mtu = std::max(one.requests.path_mtu, other.requests.path_mtu);
  if (mtu != 0 && one.requests.path_mtu == 0) set_mtu(one, mtu);
  if (mtu != 0 && other.requests.path_mtu == 0) set_mtu(other, mtu);
}

inline u64 Tracker::responses_of(const Connection& connection) const {
  return flows_.at(connection.flows[0]).responses.counts().packets +
         flows_.at(connection.flows[1]).responses.counts().packets;
}

// Responses that fitted are what is left of all: counting them one by one would touch the
// connection's memory for each.
inline u64 Tracker::support_of(const Connection& connection) const {
  return responses_of(connection) - connection.responses_before - connection.contradictions;
}

inline void Tracker::separate(HalfFlow& one, HalfFlow& other) {
  Connection& connection = connections_[one.connection - 1];
  connection.support = support_of(connection);
  connection.broken = true;
  one.partner = other.partner = 0;
  one.connection = other.connection = 0;
}

// Whether a response to `psn` can be an answer to what the partner sent.
inline bool Tracker::fits(const HalfFlow& partner, Psn psn) {
  const i32 behind = distance(psn, partner.requests.next());
  return partner.requests.started() && behind > -64 && behind < (1 << 16);
}

[[gnu::noinline]] inline void Tracker::contradict(HalfFlow& flow, HalfFlow& partner) {
  Connection& connection = connections_[flow.connection - 1];
  connection.contradictions++;
  if (connection.evidence != Evidence::cm && connection.contradictions >= 8 &&
      connection.contradictions >= support_of(connection)) {
    samples_.flush(connections_);
    separate(flow, partner);
  }
}

// The communication manager gives the QP of `key` to a new connection.
inline void Tracker::start_over(const HalfFlowKey& key) {
  const u32 id = flows_.find(key, hash(key));
  if (id == 0) return;
  HalfFlow& flow = flows_.at(id);
  flow.requests.restart_epoch(id, settlements_);
  flow.responses.forget();
  flow.waiting.clear();
  flow.sending = false;
  flow.read_open = false;
  if (HalfFlow* partner = partner_of(flow)) {
    // The old connection stays in the report; the half-flow goes to the new one.
    Connection& connection = connections_[flow.connection - 1];
    connection.support = support_of(connection);
    flow.partner = partner->partner = 0;
    flow.connection = partner->connection = 0;
  }
}

inline void Tracker::join_expected(const HalfFlowKey& key) {
  const auto expected = expected_pairs_.find(key);
  if (expected == expected_pairs_.end()) return;
  const u32 one = flows_.find(key, hash(key));
  const u32 other = flows_.find(expected->second, hash(expected->second));
  if (one == 0 || other == 0) return;
  if (flows_.at(one).partner == 0 && flows_.at(other).partner == 0)
    join(flows_.at(one), flows_.at(other), Evidence::cm);
}

// Two hosts that talk through one QP each, and no more, need no further proof.
inline void Tracker::pair_lonely() {
  std::map<std::pair<u64, u8>, std::pair<u32, u32>> lonely;  // hosts, version: id, how many
  const auto hosts = [](const HalfFlowKey& key) {
    return std::pair(u64{key.source} << 32 | key.destination, key.version());
  };
  for (u32 id = 1; id <= flows_.size(); id++) {
    const HalfFlow& flow = flows_.at(id);
    if (flow.key.dest_qp() <= 1 || flow.service == static_cast<u8>(Service::ud)) continue;
    auto& [known, count] = lonely[hosts(flow.key)];
    known = id;
    count++;
  }
  for (const auto& [key, one] : lonely) {
    HalfFlow& flow = flows_.at(one.first);
    const auto other = lonely.find({key.first >> 32 | key.first << 32, key.second});
    if (one.second != 1 || flow.partner != 0 || other == lonely.end()) continue;
    HalfFlow& back = flows_.at(other->second.first);
    if (other->second.second == 1 && back.partner == 0 && back.service == flow.service &&
        &back != &flow)
      join(flow, back, Evidence::only_pair);
  }
}

}  // namespace roce::flow
