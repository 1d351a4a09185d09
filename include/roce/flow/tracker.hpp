// SPDX-License-Identifier: BSD-3-Clause
// From packets to half-flows and connections: the one place where all streams meet.
//
// Packets come in batches, so that the memory of their flows can be fetched ahead; the result is
// the same for every batch size.

#pragma once

#include <span>
#include <unordered_map>

#include "roce/flow/cm_exchanges.hpp"
#include "roce/flow/cnp_scopes.hpp"
#include "roce/flow/flow_table.hpp"
#include "roce/flow/message_times.hpp"
#include "roce/flow/pairing.hpp"
#include "roce/flow/read_width.hpp"
#include "roce/flow/samples.hpp"

namespace roce::flow {

class Tracker {
 public:
  /// `keep_settlements`: collect SettledClass and SettledEpisode for settlements().
  /// `max_flows`: half-flows to follow at most; packets of further ones are counted only. 0: all.
  /// `notice`: see MemoryNotice.
  explicit Tracker(bool keep_settlements = false, u64 max_flows = 0, MemoryNotice notice = nullptr)
      : flows_(notice), max_flows_(max_flows == 0 ? ~u64{0} : max_flows) {
    settlements_.wanted = keep_settlements;
  }

  /// Takes packets in the order of the trace. `arrivals` is at least as long as `packets`.
  void observe(std::span<const Observation> packets, std::span<Arrival> arrivals) {
    for (std::size_t begin = 0; begin < packets.size(); begin += kBatch) {
      const std::size_t count = std::min(kBatch, packets.size() - begin);
      observe_batch(&packets[begin], &arrivals[begin], count);
    }
  }

  /// Takes what the packet that observe() was given last said to the communication manager.
  void observe_cm(const Observation& packet, const CmMessage& message) {
    CmExchange* exchange = cm_.observe(packet, message);
    if (exchange == nullptr) return;
    if (message.kind == CmKind::req && exchange->requests == 1) start_over(exchange->backward());
    if (message.kind == CmKind::rep && exchange->replies == 1) {
      start_over(exchange->forward());
      expected_pairs_[exchange->forward()] = exchange->backward();
      expected_pairs_[exchange->backward()] = exchange->forward();
      join_expected(exchange->forward());
    }
  }

  /// The end of the trace: settles what is open.
  void finish() {
    samples_.flush(connections_);
    pair_lonely();
    for (Connection& connection : connections_)
      if (flows_.at(connection.flows[0]).connection == connection.id)
        connection.support = support_of(connection);
    for (u32 id = 1; id <= flows_.size(); id++) {
      HalfFlow& flow = flows_.at(id);
      flow.requests.finish(id, settlements_);
      flow.flush_marking();
      flow.bins.note(clock_.bin(flow.last_time), totals(flow), clock_.shift());
      flow.bins.widen(clock_.shift());
    }
  }

  FlowTable& flows() { return flows_; }
  const FlowTable& flows() const { return flows_; }
  /// In the order in which they were recognised; some may be `broken`.
  const std::vector<Connection>& connections() const { return connections_; }
  const CmExchanges& cm() const { return cm_; }
  const CnpScopes& cnp_scopes() const { return cnp_scopes_; }
  /// The bins of every half-flow's TimeBins, from finish() on.
  const BinClock& clock() const { return clock_; }
  /// Packets of half-flows beyond `max_flows`.
  u64 untracked_packets() const { return untracked_packets_; }
  /// What was settled so far and not taken away.
  Settlements& settlements() { return settlements_; }

  /// Silence that counts as a stall while requests wait for their answer, nanoseconds.
  static constexpr u64 kStall = 10'000'000;

 private:
  static constexpr std::size_t kBatch = 64;
  struct KeyHash {
    std::size_t operator()(const HalfFlowKey& key) const { return hash(key); }
  };

  // --- batches: memory first, then work

  void observe_batch(const Observation* packets, Arrival* arrivals, std::size_t count) {
    std::array<u64, kBatch> hashes;
    std::array<u32, kBatch> ids;
    std::array<HalfFlow*, kBatch> flows;
    for (std::size_t i = 0; i < count; i++) {
      hashes[i] = hash(HalfFlowKey::of(packets[i]));
      __builtin_prefetch(flows_.slot_address(hashes[i]));
    }
    for (std::size_t i = 0; i < count; i++) {
      ids[i] = flows_.probe(hashes[i]);
      flows[i] = ids[i] != 0 ? &flows_.at(ids[i]) : nullptr;
      if (flows[i]) prefetch(*flows[i], packets[i]);
    }
    fetch_further(packets, flows, count);
    for (std::size_t i = 0; i < count; i++) {
      const Observation& packet = packets[i];
      arrivals[i] = {};
      HalfFlow* flow = flows[i];
      if (!flow || flow->key != HalfFlowKey::of(packet)) [[unlikely]] {
        flow = find_or_add(packet, hashes[i]);
        if (!flow) {
          if (packet.has(kCopy)) {
            arrivals[i].packet_class = PacketClass::duplicate_capture;
          } else {
            untracked_packets_++;
          }
          continue;
        }
        ids[i] = flow->id;
      }
      arrivals[i].flow = ids[i];
      observe_one(*flow, packet, arrivals[i]);
    }
  }

  // The second and third step: what is found by way of a half-flow's own lines. For a response that
  // is the half-flow it answers; for both, a place in the messages that wait.
  void fetch_further(const Observation* packets, const std::array<HalfFlow*, kBatch>& flows,
                     std::size_t count) {
    std::array<const HalfFlow*, kBatch> askers;
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; i++) {
      if (!flows[i]) continue;
      const OpcodeTraits traits = kTraits[packets[i].opcode];
      if (traits.is(kEnds) && traits.is(kRequest)) {
        __builtin_prefetch(flows[i]->waiting.end_address(), 1);
      } else if (traits.is(kResponse) && flows[i]->partner != 0) {
        const HalfFlow& asker = flows_.at(flows[i]->partner);
        __builtin_prefetch(&asker.requests, 1);
        __builtin_prefetch(&asker.current, 1);
        askers[found++] = &asker;
      }
    }
    for (std::size_t i = 0; i < found; i++) {
      if (const Message* front = askers[i]->waiting.front_address()) {
        __builtin_prefetch(front, 1);
        __builtin_prefetch(front + 1, 1);
      }
    }
  }

  static void prefetch(const HalfFlow& flow, const Observation& packet) {
    const OpcodeTraits traits = kTraits[packet.opcode];
    __builtin_prefetch(&flow.key, 1);
    if (traits.is(kResponse)) {
      __builtin_prefetch(&flow.responses, 1);
    } else {
      __builtin_prefetch(&flow.requests, 1);
      __builtin_prefetch(&flow.current, 1);
    }
    if (traits.is(kStarts) || packet.has(kIcrcGood)) __builtin_prefetch(&flow.verbs, 1);
  }

  [[gnu::noinline]] HalfFlow* find_or_add(const Observation& packet, u64 hash) {
    const HalfFlowKey key = HalfFlowKey::of(packet);
    if (const u32 found = flows_.find(key, hash)) return &flows_.at(found);
    if (flows_.size() >= max_flows_ || packet.has(kCopy)) return nullptr;
    HalfFlow& flow = flows_.add(key, hash);
    flow.service = static_cast<u8>(service_of(packet.opcode));
    flow.first_time = packet.time;
    flow.first_frame = packet.frame;
    flow.last_time = packet.time;
    flow.marking = Marking::of(packet, {});
    if (!expected_pairs_.empty()) join_expected(key);
    return &flow;
  }

  HalfFlow* partner_of(const HalfFlow& flow) {
    return flow.partner != 0 ? &flows_.at(flow.partner) : nullptr;
  }
  void sample(u32 connection, Times which, u64 value) {
    samples_.add(connection, which, value, connections_);
  }

  void observe_one(HalfFlow& flow, const Observation& packet, Arrival& arrival) {
    const u64 last_time = flow.last_time;
    if (packet.flags & (kUndecoded | kCopy)) [[unlikely]] {
      if (packet.has(kCopy)) {
        arrival.packet_class = PacketClass::duplicate_capture;
      } else {
        account(flow, arrival.flow, packet);
      }
      return;
    }
    account(flow, arrival.flow, packet);
    const OpcodeTraits traits = kTraits[packet.opcode];
    if (traits.is(kRequest)) {
      if (!traits.is(kSequenced) || packet.dest_qp <= 1) [[unlikely]] {
        note_service(flow, packet);
        flow.requests.count_unsequenced(packet, traits.is(kEnds));
        arrival.stream = StreamKind::request;
        return;
      }
      observe_request(flow, packet, traits, last_time, arrival);
    } else if (traits.is(kResponse)) {
      observe_response(flow, packet, traits, last_time, arrival);
    } else if (traits.is(kCnp)) {
      observe_cnp(flow, packet, arrival);
    }
  }

  // A CNP does not tell the service of the QP that it goes to.
  static void note_service(HalfFlow& flow, const Observation& packet) {
    if (flow.service == static_cast<u8>(Service::cnp))
      flow.service = static_cast<u8>(service_of(packet.opcode));
  }

  void account(HalfFlow& flow, u32 id, const Observation& packet) {
    if (!clock_.is_now(packet.time)) [[unlikely]] {
      if (clock_.is_past(packet.time)) return account_late(flow, packet);
      leave_bin(packet.time);
    }
    if (!clock_.is_now(flow.last_time) || flow.packets_low == 0) bin_flows_.push_back(id);
    count(flow, packet);
  }

  void account_late(HalfFlow& flow, const Observation& packet);

  void count(HalfFlow& flow, const Observation& packet) {
    if (!flow.marking.matches(packet)) [[unlikely]]
      note_marking(flow, packet);
    if (++flow.packets_low == 0) [[unlikely]] {
      flow.marking_since = 0;
      flow.rare().packets_high += u64{1} << 32;
    }
    flow.wire_bytes += packet.wire_size;
    flow.payload_bytes += packet.payload_size;
    flow.last_time = std::max(flow.last_time, packet.time);
    flow.last_frame = packet.frame;
    if (packet.has(kIcrcGood)) flow.icrc_good++;
    if (packet.has(kIcrcBad)) [[unlikely]]
      flow.rare().icrc_bad++;
  }

  // --- bins: those who sent in the bin that goes on are listed, and noted together at its end,
  // when their memory can be fetched ahead

  void leave_bin(u64 time);
  void note_bin(HalfFlow& flow);
  static void note_marking(HalfFlow& flow, const Observation& packet);
  static BinTotals totals(const HalfFlow& flow);

  // --- CNPs

  void observe_cnp(HalfFlow& flow, const Observation& packet, Arrival& arrival);
  static void note_rate(CnpState& cnp, u64 bytes, u64 interval);

  // --- requests

  void observe_request(HalfFlow& flow, const Observation& packet, OpcodeTraits traits,
                       u64 last_time, Arrival& arrival);
  bool observe_unexpected(HalfFlow& flow, const Observation& packet, OpcodeTraits traits, u32 width,
                          u64 last_time, Arrival& arrival);
  void note_request_stall(HalfFlow& flow, u64 time, u64 last_time, u32 Stalls::*ended_by);
  static void note_damaged(HalfFlow& flow, Psn psn);
  void look_around(HalfFlow& flow, HalfFlow* partner, const Observation& packet,
                   OpcodeTraits traits, u32 width, u64 last_time, RequestContext& context);
  void note_restart(HalfFlow& flow);
  static bool prepare_message(HalfFlow& flow, Psn psn, const Arrival& arrival);
  void note_message(HalfFlow& flow, const Observation& packet, OpcodeTraits traits, u32 width,
                    const Arrival& arrival);
  static void note_broken_message(HalfFlow& flow, const Observation& packet, OpcodeTraits traits,
                                  const Arrival& arrival);
  static Message* message_with(HalfFlow& flow, Psn psn);
  static void note_stall(HalfFlow& keeper, const HalfFlow& waiter, const HalfFlow& partner,
                         u64 time, u64 last_time, u32 Stalls::*ended_by);
  void learn_mtu(HalfFlow& flow, const Observation& packet);

  // --- responses

  void observe_response(HalfFlow& flow, const Observation& packet, OpcodeTraits traits,
                        u64 last_time, Arrival& arrival);
  void observe_refusal(HalfFlow& flow, HalfFlow* asker, const Observation& packet,
                       Syndrome syndrome);
  bool observe_repeat(HalfFlow& flow, const Observation& packet, OpcodeTraits traits);
  bool captured_before(const HalfFlow& flow, const Observation& packet) const;
  void note_ack_back(HalfFlow& flow, const Observation& packet);
  void observe_nak(HalfFlow& flow, HalfFlow* asker, const Observation& packet, NakCode code);
  void time_nak(HalfFlow& asker, const Observation& packet);
  void observe_data_response(HalfFlow& flow, HalfFlow* asker, const Observation& packet,
                             OpcodeTraits traits, Arrival& arrival);
  void answer(const HalfFlow& flow, HalfFlow& asker, const Observation& packet, OpcodeTraits traits,
              Arrival& arrival);
  void time_read(HalfFlow& asker, const Observation& packet, u32 connection, Arrival& arrival);
  void complete(HalfFlow& asker, const Message& message, const Observation& packet, u32 connection);

  // --- pairing

  void note_unpaired(HalfFlow& flow, const Observation& packet);
  void find_partner(HalfFlow& flow, const Observation& packet, OpcodeTraits traits);
  void join(HalfFlow& one, HalfFlow& other, Evidence evidence);
  void separate(HalfFlow& one, HalfFlow& other);
  static bool fits(const HalfFlow& partner, Psn psn);
  u64 responses_of(const Connection& connection) const;
  u64 support_of(const Connection& connection) const;
  void contradict(HalfFlow& flow, HalfFlow& partner);
  void start_over(const HalfFlowKey& key);
  void join_expected(const HalfFlowKey& key);
  void pair_lonely();

 public:
  /// Message completion times of the whole trace, by verb and size.
  const MessageTimes& message_times() const { return message_times_; }

 private:
  FlowTable flows_;
  History history_;
  PairingIndex pairing_;
  std::vector<Connection> connections_;
  Samples samples_;
  MessageTimes message_times_;
  CmExchanges cm_;
  CnpScopes cnp_scopes_;
  BinClock clock_;
  std::vector<u32> bin_flows_;  // ids of the half-flows that sent in the bin that goes on
  std::unordered_map<HalfFlowKey, HalfFlowKey, KeyHash> expected_pairs_;
  Settlements settlements_;
  u64 max_flows_;
  u64 untracked_packets_ = 0;
};

}  // namespace roce::flow

// The rest of the class, by what it is about.
#include "roce/flow/tracker_counts.hpp"
#include "roce/flow/tracker_pairs.hpp"
#include "roce/flow/tracker_requests.hpp"
#include "roce/flow/tracker_responses.hpp"
