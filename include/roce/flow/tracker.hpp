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
    for (u32 id = 1; id <= flows_.size(); id++) {
      HalfFlow& flow = flows_.at(id);
      flow.requests.finish(id, settlements_);
      flow.flush_marking();
      flow.bins.note(clock_.bin(flow.last_time), totals(flow), clock_.shift());
    }
  }

  FlowTable& flows() { return flows_; }
  const FlowTable& flows() const { return flows_; }
  /// In the order in which they were recognised; some may be `broken`.
  const std::vector<Connection>& connections() const { return connections_; }
  const CmExchanges& cm() const { return cm_; }
  const CnpScopes& cnp_scopes() const { return cnp_scopes_; }
  /// The bins of every half-flow's TimeBins.
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
          untracked_packets_++;
          continue;
        }
        ids[i] = flow->id;
      }
      arrivals[i].flow = ids[i];
      observe_one(*flow, packet, arrivals[i]);
    }
  }

  // The second and third step: what is found by way of a half-flow's own lines. For a response that
  // is the half-flow it answers and the connection; for both, a place in the messages that wait.
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
        __builtin_prefetch(&connections_[flows[i]->connection - 1], 1);
        askers[found++] = &asker;
      }
    }
    for (std::size_t i = 0; i < found; i++) {
      const Message* front = askers[i]->waiting.front_address();
      __builtin_prefetch(front, 1);
      __builtin_prefetch(front + 1, 1);
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
    if (flows_.size() >= max_flows_) return nullptr;
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
    account(flow, arrival.flow, packet);
    if (packet.has(kUndecoded)) [[unlikely]]
      return;
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

  // Of a bin that is over.
  [[gnu::noinline]] void account_late(HalfFlow& flow, const Observation& packet) {
    note_bin(flow);
    count(flow, packet);
    note_bin(flow);
  }

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

  // --- bins: those who sent in the bin that goes on are listed, and noted together at its end, when
  // their memory can be fetched ahead

  [[gnu::noinline]] void leave_bin(u64 time) {
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

  void note_bin(HalfFlow& flow) {
    if (flow.packets_low >= kBinned)
      flow.bins.note(clock_.bin(flow.last_time), totals(flow), clock_.shift());
  }

  [[gnu::noinline]] static void note_marking(HalfFlow& flow, const Observation& packet) {
    const Marking marking = Marking::of(packet, flow.marking);
    if (marking != flow.marking) {
      flow.flush_marking();
      flow.marking = marking;
    }
    if (packet.ecn() != 3) return;
    flow.last_ce_time = packet.time;
    flow.ces_since_cnp++;
    flow.ce_marked++;
  }

  static BinTotals totals(const HalfFlow& flow) {
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

  // --- CNPs

  [[gnu::noinline]] void observe_cnp(HalfFlow& flow, const Observation& packet, Arrival& arrival) {
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
  static void note_rate(CnpState& cnp, u64 bytes, u64 interval) {
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

  // --- requests

  void observe_request(HalfFlow& flow, const Observation& packet, OpcodeTraits traits,
                       u64 last_time, Arrival& arrival) {
    const Psn psn(packet.psn);
    if (flow.partner == 0) [[unlikely]]
      note_unpaired(flow, packet);
    if (traits.is(kFullSize) && packet.payload_size != flow.requests.path_mtu) [[unlikely]]
      learn_mtu(flow, packet);
    if (flow.read_open) [[unlikely]]
      close_open_read(flow, psn);
    const u32 width = traits.is(kReadRequest) ? read_width(flow, packet) : 1;

    if (flow.requests.expects(psn)) [[likely]] {
      if (packet.time - std::min(last_time, packet.time) >= kStall) [[unlikely]]
        note_request_stall(flow, packet.time, last_time);
      flow.requests.take(packet, width);
      arrival.packet_class = PacketClass::in_order;
      arrival.stream = StreamKind::request;
    } else if (!observe_unexpected(flow, packet, traits, width, last_time, arrival)) {
      return;
    }
    if (packet.has(kIcrcBad)) [[unlikely]]
      note_damaged(flow, psn);
    history_.remember(packet, flow.last_past);
    if (arrival.packet_class == PacketClass::in_order || prepare_message(flow, psn, arrival))
        [[likely]]
      note_message(flow, packet, traits, width, arrival);
    if (traits.is(kReadRequest) && flow.requests.path_mtu == 0) [[unlikely]] {
      flow.open_read = psn;
      flow.open_read_length = packet.dma_length;
      flow.read_open = packet.dma_length != 0;
    }
    if (arrival.episode != 0) [[unlikely]]
      note_restart(flow);
  }

  // False: no more is to be learnt from the packet.
  [[gnu::noinline]] bool observe_unexpected(HalfFlow& flow, const Observation& packet,
                                            OpcodeTraits traits, u32 width, u64 last_time,
                                            Arrival& arrival) {
    note_service(flow, packet);
    RequestContext context{.flow = flow.id, .repairs = traits.is(kRepairs)};
    if (Psn(packet.psn) != flow.requests.next())
      look_around(flow, partner_of(flow), packet, traits, last_time, context);
    if (packet.time - std::min(last_time, packet.time) >= kStall)
      note_request_stall(flow, packet.time, last_time);
    arrival = flow.requests.observe(packet, width, context, settlements_);
    arrival.flow = flow.id;
    return arrival.packet_class != PacketClass::duplicate_capture &&
           arrival.packet_class != PacketClass::stale;
  }

  void note_request_stall(HalfFlow& flow, u64 time, u64 last_time) {
    if (const HalfFlow* partner = partner_of(flow))
      note_stall(flow, flow, *partner, time, last_time, &Stalls::ended_by_request);
  }

  // Where nearly all ICRCs are right, a wrong one means a damaged packet.
  [[gnu::noinline]] static void note_damaged(HalfFlow& flow, Psn psn) {
    if (flow.icrc_good > 8 * flow.rare().icrc_bad) flow.requests.damaged(psn);
  }

  // What is needed to judge a packet that was not expected.
  void look_around(HalfFlow& flow, HalfFlow* partner, const Observation& packet,
                   OpcodeTraits traits, u64 last_time, RequestContext& context) {
    context.before = history_.find(flow.last_past, [&](const PastPacket& past) {
      return past.psn() == packet.psn && kTraits[past.opcode()].is(kRequest);
    });
    context.last_event = last_time;
    context.answered_alone = traits.is(kReadRequest) || traits.verb == Verb::atomic;
    if (traits.is(kReadRequest)) {
      const Message* message = flow.waiting.find(Psn(packet.psn));
      // A PSN that went by, though no request began with it, lies inside a READ.
      context.inside_old_read =
          message ? message->verb == Verb::read && message->first != Psn(packet.psn)
                  : !context.before && flow.requests.saw(Psn(packet.psn));
    }
    if (!partner) return;
    context.rtt = flow.requests.shortest_rtt;
    context.last_event = std::max(last_time, partner->last_time);
    context.answered = partner->responses.any();
    if (!context.answered_alone) return;
    const PastPacket* answer = history_.find(partner->last_past, [&](const PastPacket& past) {
      return past.psn() == packet.psn && kTraits[past.opcode()].is(kReadResponse | kAtomicResponse);
    });
    context.answer_time = answer ? answer->time : 0;
  }

  [[gnu::noinline]] void note_restart(HalfFlow& flow) {
    const SettledEpisode* episode = flow.requests.just_restarted();
    if (!episode || flow.connection == 0) return;
    if (episode->rnr_timer == 0) {
      if (episode->cause == Cause::nak_sequence)
        sample(flow.connection, Times::nak_reaction, episode->reaction);
      return;
    }
    sample(flow.connection, Times::rnr_wait, episode->reaction);
    flow.rare().rnr_wait += episode->reaction;
    if (episode->reaction < episode->rnr_timer) flow.rare().rnr_early++;
  }

  // Whether a packet that was not in order is part of a message that goes on or begins.
  [[gnu::noinline]] static bool prepare_message(HalfFlow& flow, Psn psn, const Arrival& arrival) {
    if (arrival.packet_class == PacketClass::retransmission) {
      flow.requests.dirty = true;
      flow.requests.dirty_until = flow.requests.next();
      if (Message* message = message_with(flow, psn)) message->sent_twice = true;
      return false;
    }
    if (arrival.packet_class == PacketClass::reordered) return false;
    if (arrival.packet_class == PacketClass::first) {
      flow.waiting.clear();
      flow.sending = false;
    }
    return true;
  }

  void note_message(HalfFlow& flow, const Observation& packet, OpcodeTraits traits, u32 width,
                    const Arrival& arrival) {
    const Psn psn(packet.psn);
    Message& message = flow.current;
    if (flow.sending && !traits.is(kStarts)) {
      if (message.end != psn && !traits.is(kRepairs)) [[unlikely]]
        flow.rare().uc_messages_lost++;
      if (!message.sized) message.bytes += packet.payload_size;
    } else {
      if (flow.sending || !traits.is(kStarts)) [[unlikely]]
        note_broken_message(flow, packet, traits, arrival);
      if (traits.is(kStarts)) flow.verbs[static_cast<std::size_t>(traits.verb)]++;
      const bool sized = packet.has(kHasDmaLength);
      message.first = psn;
      message.start_time = packet.time;
      message.bytes = sized ? packet.dma_length : packet.payload_size;
      message.verb = traits.verb;
      message.sized = sized;
      message.started = traits.is(kStarts);
      message.sent_twice = message.answering = false;
      if (traits.is(kReadRequest))
        flow.most_reads_outstanding =
            std::max(flow.most_reads_outstanding, ++flow.reads_outstanding);
    }
    message.end = psn + width;
    message.last_time = packet.time;
    message.last_frame = packet.frame;
    message.whole = traits.is(kEnds);
    flow.sending = !traits.is(kEnds);
    if (traits.is(kEnds)) {
      flow.requests.count_message();
      if (traits.is(kRepairs)) flow.waiting.push(message);
    }
    flow.requests.note_outstanding();
  }

  // A message whose end was not seen is followed by another, or one begins without its beginning.
  [[gnu::noinline]] static void note_broken_message(HalfFlow& flow, const Observation& packet,
                                                    OpcodeTraits traits, const Arrival& arrival) {
    if (!traits.is(kRepairs) && arrival.missing > 0) flow.rare().uc_messages_lost++;
    if (flow.sending) flow.waiting.push(flow.current);
    if (!traits.is(kStarts) && arrival.packet_class == PacketClass::in_order)
      flow.rare().breaches.note(&Breaches::headless, packet.frame);
  }

  static Message* message_with(HalfFlow& flow, Psn psn) {
    if (flow.sending && distance(flow.current.first, psn) >= 0) return &flow.current;
    return flow.waiting.find(psn);
  }

  // Nothing of `waiter`'s exchange moved since `last_time`, or since its partner's last packet.
  [[gnu::noinline]] static void note_stall(HalfFlow& keeper, const HalfFlow& waiter, const HalfFlow& partner,
                         u64 time, u64 last_time, u32 Stalls::*ended_by) {
    const u64 since = std::max(last_time, partner.last_time);
    if (waiter.waiting.empty() || time < since + kStall) return;
    Stalls& stalls = keeper.rare().stalls;
    const u64 silence = time - since;
    stalls.count++;
    stalls.*ended_by += 1;
    stalls.total += silence;
    if (silence <= stalls.longest) return;
    stalls.longest = silence;
    stalls.longest_from = since;
  }

  // First and Middle packets carry exactly the path MTU.
  [[gnu::noinline]] void learn_mtu(HalfFlow& flow, const Observation& packet) {
    const u16 mtu = proven_mtu(packet.payload_size);
    const u16 before = flow.requests.path_mtu;
    Breaches& breaches = flow.rare().breaches;
    if (mtu == 0) {
      if (!packet.has(kIcrcBad)) breaches.note(&Breaches::odd_sizes, packet.frame);
      return;
    }
    if (before == 0) {
      breaches.first_full_size = Psn(packet.psn);
      breaches.has_full_size = true;
    } else {
      breaches.note(&Breaches::mtu_changes, packet.frame);
      breaches.mtu_before = before;
      breaches.mtu_now = mtu;
    }
    set_mtu(flow, mtu);
    if (HalfFlow* partner = partner_of(flow)) set_mtu(*partner, mtu);
  }

  // --- responses

  void observe_response(HalfFlow& flow, const Observation& packet, OpcodeTraits traits,
                        u64 last_time, Arrival& arrival) {
    arrival.stream = StreamKind::response;
    ResponseStream& responses = flow.responses;
    const Psn psn(packet.psn);
    if (!responses.any()) [[unlikely]]
      note_service(flow, packet);
    else if (distance(responses.last_psn, psn) <= 0 && !observe_repeat(flow, packet, traits))
        [[unlikely]] {
      arrival.packet_class = PacketClass::duplicate_capture;
      return;
    }
    history_.remember(packet, flow.last_past);
    responses.counts().packets++;
    responses.last_psn = psn;
    if (flow.partner == 0) [[unlikely]]
      find_partner(flow, packet, traits);
    HalfFlow* asker = partner_of(flow);
    if (asker && !fits(flow, *asker, psn)) [[unlikely]] {
      contradict(flow, *asker);
      asker = partner_of(flow);
    }
    if (packet.time - std::min(last_time, packet.time) >= kStall && asker) [[unlikely]]
      note_stall(*asker, *asker, *asker, packet.time, last_time, &Stalls::ended_by_response);
    if (traits.is(kFullSize) && packet.payload_size != flow.requests.path_mtu) [[unlikely]]
      learn_mtu(flow, packet);

    if (!traits.is(kAcknowledge)) {
      observe_data_response(flow, asker, packet, traits, arrival);
    } else if (packet.has(kHasAeth)) {
      const Syndrome syndrome(packet.syndrome());
      if (syndrome.is_ack()) [[likely]] {
        responses.counts().acks++;
        if (asker) answer(flow, *asker, packet, traits, arrival);
      } else {
        observe_refusal(flow, asker, packet, syndrome);
      }
    }
  }

  [[gnu::noinline]] void observe_refusal(HalfFlow& flow, HalfFlow* asker, const Observation& packet,
                                         Syndrome syndrome) {
    if (syndrome.is_rnr_nak()) {
      flow.rare().rnr_naks++;
      if (asker)
        asker->requests.rnr_nak(Psn(packet.psn), packet.time, packet.frame,
                                syndrome.rnr_timer_ns());
    } else if (syndrome.is_nak()) {
      observe_nak(flow, asker, packet, syndrome.nak_code());
    }
  }

  // A response that does not go on from the one before. False: it is that one, captured again.
  [[gnu::noinline]] bool observe_repeat(HalfFlow& flow, const Observation& packet,
                                        OpcodeTraits traits) {
    if (captured_before(flow, packet)) {
      flow.rare().response_duplicate_captures++;
      return false;
    }
    if (traits.is(kAcknowledge)) note_ack_back(flow, packet);
    return true;
  }

  // Responses are repeated within microseconds when duplicate requests come in, so only an IP
  // identification proves that it is the same packet.
  bool captured_before(const HalfFlow& flow, const Observation& packet) const {
    if (!packet.has(kHasIpId) || packet.ip_id == 0) return false;
    return history_.find(flow.last_past, [&](const PastPacket& past) {
      return past.psn() == packet.psn && is_capture_of(past, packet, true, 0);
    }) != nullptr;
  }

  void note_ack_back(HalfFlow& flow, const Observation& packet) {
    const HalfFlow* asker = partner_of(flow);
    if (!asker || asker->requests.recovery() || !Syndrome(packet.syndrome()).is_ack()) return;
    if (distance(Psn(packet.psn), flow.responses.last_psn) > 0)
      flow.rare().breaches.note(&Breaches::acks_back, packet.frame);
  }

  void observe_nak(HalfFlow& flow, HalfFlow* asker, const Observation& packet, NakCode code) {
    const auto index = static_cast<std::size_t>(code);
    RareState& rare = flow.rare();
    if (index < rare.naks.size()) rare.naks[index]++;
    if (code != NakCode::sequence) {
      if (rare.first_nak_frame == 0) rare.first_nak_frame = packet.frame;
      return;
    }
    if (!asker) return;
    time_nak(*asker, packet);
    asker->requests.sequence_nak(Psn(packet.psn), packet.time, packet.frame, asker->id,
                                 settlements_);
  }

  // From the packet at which the responder had to notice that one was missing.
  void time_nak(HalfFlow& asker, const Observation& packet) {
    const Psn missing(packet.psn);
    u64 noticed = asker.requests.gap_time(missing);
    if (noticed == 0) {
      const u32 after = (missing + 1u).value();
      const PastPacket* next = history_.find(asker.last_past, [&](const PastPacket& past) {
        return past.psn() == after && kTraits[past.opcode()].is(kRequest);
      });
      if (next) noticed = next->time;
    }
    if (noticed != 0 && packet.time >= noticed)
      sample(asker.connection, Times::nak_generation, packet.time - noticed);
  }

  void observe_data_response(HalfFlow& flow, HalfFlow* asker, const Observation& packet,
                             OpcodeTraits traits, Arrival& arrival) {
    const Psn psn(packet.psn);
    if (traits.is(kReadResponse)) flow.responses.counts().read_responses++;
    if (traits.is(kAtomicResponse)) flow.rare().atomic_acks++;
    bool asked_again = false;
    if (asker) {
      const Message* message = asker->waiting.find(psn);
      asked_again = (message && message->sent_twice) ||
                    (asker->requests.dirty && distance(psn, asker->requests.dirty_until) > 0);
    }
    const Arrival seen =
        flow.responses.observe(packet, traits, asker ? &asker->waiting : nullptr, asked_again);
    arrival.missing = seen.missing;
    arrival.repeated_response = seen.repeated_response;
    if (!asker) return;
    if (seen.missing > 0)
      asker->requests.response_gap(flow.responses.gaps()->latest, packet.time, packet.frame);
    answer(flow, *asker, packet, traits, arrival);
  }

  // `packet` answers requests of `asker` up to its PSN: times them (Karn's rule), and lets them go.
  void answer(const HalfFlow& flow, HalfFlow& asker, const Observation& packet,
              OpcodeTraits traits, Arrival& arrival) {
    const Psn psn(packet.psn);
    const u32 connection = flow.connection;
    RequestStream& requests = asker.requests;
    const bool news = !requests.acknowledged_any() || distance(requests.una(), psn) >= 0;
    const bool clean = !requests.dirty || distance(psn, requests.dirty_until) <= 0;
    if (clean) requests.dirty = false;
    if (traits.is(kReadResponse)) time_read(asker, packet, connection, arrival);
    const Message* last = nullptr;
    while (!asker.waiting.empty()) {
      const Message& message = asker.waiting.front();
      if (distance(message.end, psn + 1u) < 0) break;
      last = &message;
      complete(asker, message, packet, connection);
      asker.waiting.pop();
    }
    if (!last && asker.sending) last = &asker.current;
    if (last && last->end == psn + 1u && !traits.is(kReadResponse)) {
      arrival.answers_frame = last->last_frame;
      arrival.answers_time = last->last_time;
      if (news && clean && !last->sent_twice && packet.time >= last->last_time) {
        const u64 rtt = packet.time - last->last_time;
        sample(connection, Times::ack, rtt);
        requests.note_rtt(rtt);
      }
    }
    requests.acknowledged(psn, packet.time, flow.partner, settlements_);
  }

  void time_read(HalfFlow& asker, const Observation& packet, u32 connection, Arrival& arrival) {
    const Psn psn(packet.psn);
    Message* read = asker.waiting.find(psn);
    if (!read || read->verb != Verb::read) return;
    arrival.answers_frame = read->last_frame;
    arrival.answers_time = read->last_time;
    if (read->sent_twice || packet.time < read->start_time) return;
    const u64 passed = packet.time - read->start_time;
    if (!read->answering && read->first == psn) sample(connection, Times::read_first, passed);
    read->answering = true;
    if (read->end != psn + 1u) return;
    sample(connection, Times::read, passed);
    const u64 mtu = asker.requests.path_mtu;
    const auto before = static_cast<u64>(distance(read->first, psn));
    if (mtu != 0 && before * mtu + packet.payload_size != read->bytes && !packet.has(kIcrcBad))
      asker.rare().breaches.note(&Breaches::read_lengths, packet.frame);
  }

  void complete(HalfFlow& asker, const Message& message, const Observation& packet,
                u32 connection) {
    if (message.verb == Verb::read && asker.reads_outstanding > 0) asker.reads_outstanding--;
    const bool answered_here = message.verb != Verb::read || message.end == Psn(packet.psn) + 1u;
    if (!answered_here || !message.started || message.sent_twice ||
        packet.time < message.start_time)
      return;
    const u64 passed = packet.time - message.start_time;
    sample(connection, Times::message, passed);
    message_times_.add(message.verb, message.bytes, passed);
  }

  // --- pairing

  [[gnu::noinline]] void note_unpaired(HalfFlow& flow, const Observation& packet) {
    // A half-flow that stays alone, as in a capture of one direction, is noted ever more rarely.
    const u32 count = ++flow.unpaired_requests;
    if (count > 1024 && (count & 63) != 0) return;
    pairing_.note_request(flow.key, packet.psn, flow.id, packet.frame);
  }

  [[gnu::noinline]] void find_partner(HalfFlow& flow, const Observation& packet, OpcodeTraits traits) {
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
    if (found != 0 && !unclear) join(flow, flows_.at(found), Evidence::psn);
  }

  void join(HalfFlow& one, HalfFlow& other, Evidence evidence) {
    Connection& connection = connections_.emplace_back();
    connection.id = static_cast<u32>(connections_.size());
    connection.flows = {std::min(one.id, other.id), std::max(one.id, other.id)};
    connection.evidence = evidence;
    one.partner = other.id;
    other.partner = one.id;
    one.connection = other.connection = connection.id;
    const u16 mtu = std::max(one.requests.path_mtu, other.requests.path_mtu);
    if (mtu != 0 && one.requests.path_mtu == 0) set_mtu(one, mtu);
    if (mtu != 0 && other.requests.path_mtu == 0) set_mtu(other, mtu);
  }

  void separate(HalfFlow& one, HalfFlow& other) {
    connections_[one.connection - 1].broken = true;
    one.partner = other.partner = 0;
    one.connection = other.connection = 0;
  }

  // Whether a response to `psn` can be an answer to what the partner sent.
  bool fits(const HalfFlow& flow, const HalfFlow& partner, Psn psn) {
    const i32 behind = distance(psn, partner.requests.next());
    const bool fitting = partner.requests.started() && behind > -64 && behind < (1 << 16);
    if (fitting) connections_[flow.connection - 1].support++;
    return fitting;
  }

  [[gnu::noinline]] void contradict(HalfFlow& flow, HalfFlow& partner) {
    Connection& connection = connections_[flow.connection - 1];
    connection.contradictions++;
    if (connection.evidence != Evidence::cm && connection.contradictions >= 8 &&
        connection.contradictions >= connection.support) {
      samples_.flush(connections_);
      separate(flow, partner);
    }
  }

  // The communication manager gives the QP of `key` to a new connection.
  void start_over(const HalfFlowKey& key) {
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
      flow.partner = partner->partner = 0;
      flow.connection = partner->connection = 0;
    }
  }

  void join_expected(const HalfFlowKey& key) {
    const auto expected = expected_pairs_.find(key);
    if (expected == expected_pairs_.end()) return;
    const u32 one = flows_.find(key, hash(key));
    const u32 other = flows_.find(expected->second, hash(expected->second));
    if (one == 0 || other == 0) return;
    if (flows_.at(one).partner == 0 && flows_.at(other).partner == 0)
      join(flows_.at(one), flows_.at(other), Evidence::cm);
  }

  // Two hosts that talk through one QP each, and no more, need no further proof.
  void pair_lonely() {
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
  static constexpr u32 kBinned = 64;  // packets before a half-flow gets bins
};

}  // namespace roce::flow
