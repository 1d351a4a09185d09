// SPDX-License-Identifier: BSD-3-Clause
// From packets to half-flows and connections: the one place where all streams meet.
//
// Packets come in batches, so that the memory of their flows can be fetched ahead; the result is
// the same for every batch size.

#pragma once

#include <span>

#include "roce/flow/connection.hpp"
#include "roce/flow/flow_table.hpp"
#include "roce/flow/pairing.hpp"

namespace roce::flow {

class Tracker {
 public:
  /// `keep_settlements`: collect SettledClass and SettledEpisode for take_settlements().
  /// `max_flows`: half-flows to follow at most; packets of further ones are counted only. 0: all.
  explicit Tracker(bool keep_settlements = false, u64 max_flows = 0)
      : max_flows_(max_flows == 0 ? ~u64{0} : max_flows) {
    settlements_.wanted = keep_settlements;
  }

  /// Takes packets in the order of the trace. `arrivals` is at least as long as `packets`.
  void observe(std::span<const Observation> packets, std::span<Arrival> arrivals) {
    for (std::size_t begin = 0; begin < packets.size(); begin += kBatch) {
      const std::size_t count = std::min(kBatch, packets.size() - begin);
      observe_batch(packets.subspan(begin, count), arrivals.subspan(begin, count));
    }
  }

  /// The end of the trace: settles what is open.
  void finish() {
    pair_lonely();
    for (u32 id = 1; id <= flows_.size(); id++) flows_.at(id).requests.finish(id, settlements_);
  }

  const FlowTable& flows() const { return flows_; }
  /// In the order in which they were recognised; some may be `broken`.
  const std::vector<Connection>& connections() const { return connections_; }
  /// Packets of half-flows beyond `max_flows`.
  u64 untracked_packets() const { return untracked_packets_; }
  /// What was settled since the last call of clear().
  Settlements& settlements() { return settlements_; }

 private:
  static constexpr std::size_t kBatch = 32;

  void observe_batch(std::span<const Observation> packets, std::span<Arrival> arrivals) {
    std::array<u64, kBatch> hashes;
    std::array<u32, kBatch> ids;
    for (std::size_t i = 0; i < packets.size(); i++) {
      hashes[i] = hash(HalfFlowKey::of(packets[i]));
      __builtin_prefetch(flows_.slot_address(hashes[i]));
    }
    for (std::size_t i = 0; i < packets.size(); i++) {
      ids[i] = flows_.probe(hashes[i]);
      if (ids[i] == 0) continue;
      const char* line = static_cast<const char*>(static_cast<const void*>(&flows_.at(ids[i])));
      for (std::size_t at = 0; at < kPrefetched; at += 64) __builtin_prefetch(line + at);
    }
    for (std::size_t i = 0; i < packets.size(); i++) {
      const HalfFlowKey key = HalfFlowKey::of(packets[i]);
      u32 id = ids[i];
      if (id == 0 || flows_.at(id).key != key) id = find_or_add(key, hashes[i], packets[i]);
      if (id == 0) {
        untracked_packets_++;
        arrivals[i] = {};
        continue;
      }
      arrivals[i] = observe_one(flows_.at(id), packets[i]);
      arrivals[i].flow = id;
    }
  }

  u32 find_or_add(const HalfFlowKey& key, u64 hash, const Observation& packet) {
    const u32 found = flows_.find(key, hash);
    if (found != 0 || flows_.size() >= max_flows_) return found;
    HalfFlow& flow = flows_.add(key, hash);
    flow.service = static_cast<u8>(service_of(packet.opcode));
    flow.first_time = packet.time;
    flow.first_frame = packet.frame;
    recent_.fit(flows_.size());
    return flow.id;
  }

  HalfFlow* partner_of(const HalfFlow& flow) {
    return flow.partner != 0 ? &flows_.at(flow.partner) : nullptr;
  }

  Arrival observe_one(HalfFlow& flow, const Observation& packet) {
    const u64 last_time = flow.last_time;
    account(flow, packet);
    if (packet.has(kUndecoded)) return {};
    const OpcodeTraits traits = kTraits[packet.opcode];
    if (traits.is(kCnp)) return observe_cnp(flow, packet);
    if (flow.service == static_cast<u8>(Service::cnp)) {
      flow.service = static_cast<u8>(service_of(packet.opcode));
    }
    if (traits.is(kResponse)) return observe_response(flow, packet, traits);
    if (!traits.is(kRequest)) return {};
    if (!traits.is(kSequenced) || packet.dest_qp <= 1) {
      flow.requests.count_unsequenced(packet, traits.is(kEnds));
      return {.stream = StreamKind::request};
    }
    return observe_request(flow, packet, traits, last_time);
  }

  static void account(HalfFlow& flow, const Observation& packet) {
    flow.packets++;
    flow.wire_bytes += packet.wire_size;
    flow.payload_bytes += packet.payload_size;
    flow.last_time = std::max(flow.last_time, packet.time);
    flow.last_frame = packet.frame;
    flow.ecn[packet.ecn()]++;
    flow.dscp.add(packet.dscp());
    if (packet.has(kHasVlan)) flow.vlans.add(packet.vlan);
    if (packet.has(kHasSourcePort)) flow.source_ports.add(packet.source_port);
    if (packet.ecn() == 3) {
      flow.last_ce_time = packet.time;
      flow.ces_since_cnp++;
    }
    if (packet.has(kIcrcGood)) {
      flow.icrc_good++;
    } else if (packet.has(kIcrcBad)) {
      flow.icrc_bad++;
    } else {
      flow.icrc_not_captured++;
    }
  }

  Arrival observe_cnp(HalfFlow& flow, const Observation& packet) {
    if (flow.cnp_packets++ > 0 && packet.time >= flow.cnp.last_time)
      add_sample(flow.cnp.intervals, packet.time - flow.cnp.last_time);
    flow.cnp.last_time = packet.time;
    HalfFlow* sender = partner_of(flow);
    if (sender && sender->ces_since_cnp > 0 && packet.time >= sender->last_ce_time)
      add_sample(connections_[flow.connection - 1].times.ce_to_cnp,
                 packet.time - sender->last_ce_time);
    if (sender) sender->ces_since_cnp = 0;
    return {.stream = StreamKind::cnp};
  }

  // --- requests

  Arrival observe_request(HalfFlow& flow, const Observation& packet, OpcodeTraits traits,
                          u64 last_time) {
    const Psn psn(packet.psn);
    HalfFlow* partner = partner_of(flow);
    if (!partner) note_unpaired(flow, packet);
    if (traits.is(kFullSize) && packet.payload_size != flow.path_mtu) learn_mtu(flow, packet);
    if (flow.open_read_length != 0) close_open_read(flow, psn);

    const u32 width = traits.is(kReadRequest) ? read_width(flow, packet) : 1;
    RequestContext context{.flow = flow.id, .repairs = traits.is(kRepairs)};
    if (psn != flow.requests.next()) {
      context.before = recent_.find(flow.id, packet.psn, false);
      context.rtt = partner ? connections_[flow.connection - 1].shortest_rtt : 0;
      context.last_event = partner ? std::max(last_time, partner->last_time) : last_time;
      context.answered = partner && partner->responses_seen;
      context.answered_alone = traits.is(kReadRequest) || traits.verb == Verb::atomic;
      if (context.answered_alone && partner) {
        const RecentPacket* answer = recent_.find(partner->id, packet.psn, true);
        const bool data = answer && !kTraits[answer->opcode()].is(kAcknowledge);
        context.answer_time = data ? answer->time : 0;
      }
      if (traits.is(kReadRequest)) {
        const Message* message = flow.messages.find(psn);
        context.inside_old_read = message && message->verb == Verb::read && message->first != psn;
      }
    }
    const Arrival arrival = flow.requests.observe(packet, width, context, settlements_);
    if (arrival.packet_class == PacketClass::duplicate_capture ||
        arrival.packet_class == PacketClass::stale)
      return arrival;
    // Where nearly all ICRCs are right, a wrong one means a damaged packet.
    if (packet.has(kIcrcBad) && flow.icrc_good > 8 * flow.icrc_bad) flow.requests.damaged(psn);
    RecentPacket& memory = recent_.remember(flow.id, packet, false);
    flow.last_request_psn = psn;
    note_message(flow, packet, traits, width, arrival, memory);
    if (traits.is(kReadRequest) && flow.path_mtu == 0) open_read(flow, packet);
    return arrival;
  }

  void note_message(HalfFlow& flow, const Observation& packet, OpcodeTraits traits, u32 width,
                    const Arrival& arrival, RecentPacket& memory) {
    const Psn psn(packet.psn);
    if (arrival.packet_class == PacketClass::retransmission) {
      memory.flags |= kRecentSentTwice;
      flow.dirty = true;
      flow.dirty_until = flow.requests.next();
      if (Message* message = flow.messages.find(psn)) message->sent_twice = true;
      return;
    }
    if (arrival.packet_class == PacketClass::reordered) return;
    if (arrival.packet_class == PacketClass::first) flow.messages.clear();
    if (traits.is(kEnds)) flow.requests.count_message();
    const bool continues = !traits.is(kStarts) && !flow.messages.empty() &&
                           !flow.messages.back().whole && flow.messages.back().end == psn;
    if (continues) {
      Message& message = flow.messages.back();
      message.end = psn + width;
      message.whole = traits.is(kEnds);
      if (!message.sized) message.bytes += packet.payload_size;
      return;
    }
    if (!traits.is(kRepairs)) return;  // nothing answers a UC message
    flow.messages.push(
        {.first = psn,
         .end = psn + width,
         .start_time = packet.time,
         .start_frame = packet.frame,
         .bytes = packet.has(kHasDmaLength) ? packet.dma_length : packet.payload_size,
         .verb = traits.verb,
         .whole = traits.is(kEnds),
         .sized = packet.has(kHasDmaLength),
         .started = traits.is(kStarts)});
  }

  // --- READ requests take as many PSNs as their responses will

  static u32 packets_of(u32 length, u32 mtu) {
    return length == 0 ? 1 : static_cast<u32>((u64{length} + mtu - 1) / mtu);
  }

  static u32 read_width(const HalfFlow& flow, const Observation& packet) {
    const u32 mtu = flow.path_mtu != 0 ? flow.path_mtu : 4096;
    return std::min(packets_of(packet.dma_length, mtu), u32{1} << 22);
  }

  static void open_read(HalfFlow& flow, const Observation& packet) {
    flow.open_read = Psn(packet.psn);
    flow.open_read_length = packet.dma_length;
  }

  // The next request's PSN says how many PSNs the READ before it took.
  static void close_open_read(HalfFlow& flow, Psn psn) {
    const u32 length = std::exchange(flow.open_read_length, 0);
    const i32 width = distance(flow.open_read, psn);
    if (width <= 0) return;
    u8 fitting = 0;
    for (unsigned i = 0; i < 5; i++)
      if (packets_of(length, 256u << i) == static_cast<u32>(width)) fitting |= u8(1u << i);
    fitting &= flow.mtu_candidates;
    const auto widest = static_cast<i32>(std::min(packets_of(length, 256), u32{1} << 22));
    if (fitting == 0 && width > widest) return;
    flow.requests.correct_next(psn);
    if (!flow.messages.empty() && flow.messages.back().first == flow.open_read)
      flow.messages.back().end = psn;
    if (fitting == 0) return;
    flow.mtu_candidates = fitting;
    if (std::has_single_bit(fitting))
      flow.path_mtu = static_cast<u16>(256u << std::countr_zero(fitting));
  }

  // First and Middle packets carry exactly the path MTU (IBTA 9.4).
  void learn_mtu(HalfFlow& flow, const Observation& packet) {
    const u32 size = packet.payload_size;
    if (size < 256 || size > 4096 || !std::has_single_bit(size)) return;
    set_mtu(flow, static_cast<u16>(size));
    if (HalfFlow* partner = partner_of(flow)) set_mtu(*partner, static_cast<u16>(size));
  }

  static void set_mtu(HalfFlow& flow, u16 mtu) {
    flow.path_mtu = mtu;
    if (flow.open_read_length == 0) return;
    const Psn end = flow.open_read + packets_of(std::exchange(flow.open_read_length, 0), mtu);
    flow.requests.correct_next(end);
    if (!flow.messages.empty() && flow.messages.back().first == flow.open_read)
      flow.messages.back().end = end;
  }

  // --- responses

  Arrival observe_response(HalfFlow& flow, const Observation& packet, OpcodeTraits traits) {
    Arrival arrival{.stream = StreamKind::response};
    ResponseCounts& counts = flow.responses.counts();
    flow.responses_seen = true;
    const RecentPacket* before = recent_.find(flow.id, packet.psn, true);
    if (before && is_second_capture(*before, packet)) {
      counts.duplicate_captures++;
      arrival.packet_class = PacketClass::duplicate_capture;
      return arrival;
    }
    recent_.remember(flow.id, packet, true);
    counts.packets++;
    if (flow.partner == 0) find_partner(flow, packet, traits);
    HalfFlow* partner = partner_of(flow);
    if (partner) weigh_pair(flow, *partner, Psn(packet.psn));
    if (traits.is(kFullSize) && packet.payload_size != flow.path_mtu) learn_mtu(flow, packet);

    if (traits.is(kAcknowledge)) {
      const Syndrome syndrome(packet.syndrome());
      if (!packet.has(kHasAeth)) return arrival;
      if (syndrome.is_ack()) {
        counts.acks++;
        if (partner) answer(*partner, packet, traits, arrival);
      } else if (syndrome.is_rnr_nak()) {
        counts.rnr_naks++;
        if (partner) partner->requests.rnr_nak(Psn(packet.psn), packet.time, packet.frame);
      } else if (syndrome.is_nak()) {
        observe_nak(flow, partner, packet, syndrome.nak_code());
      }
      return arrival;
    }
    if (traits.is(kReadResponse)) counts.read_responses++;
    if (traits.is(kAtomicResponse)) counts.atomic_acks++;
    observe_data_response(flow, partner, packet, traits, arrival);
    return arrival;
  }

  static bool is_second_capture(const RecentPacket& before, const Observation& packet) {
    // Responses are repeated within microseconds when duplicate requests come in, so only an IP
    // identification proves that it is the same packet.
    return packet.has(kHasIpId) && packet.ip_id != 0 && is_capture_of(before, packet, true, 0);
  }

  void observe_nak(HalfFlow& flow, HalfFlow* partner, const Observation& packet, NakCode code) {
    const auto index = static_cast<std::size_t>(code);
    ResponseCounts& counts = flow.responses.counts();
    if (index < counts.naks.size()) counts.naks[index]++;
    if (partner && code == NakCode::sequence)
      partner->requests.sequence_nak(Psn(packet.psn), packet.time, packet.frame, partner->id,
                                     settlements_);
  }

  void observe_data_response(HalfFlow& flow, HalfFlow* partner, const Observation& packet,
                             OpcodeTraits traits, Arrival& arrival) {
    const Psn psn(packet.psn);
    const Psn expected = flow.responses.next();
    bool asked_again = false;
    if (partner) {
      const Message* message = partner->messages.find(psn);
      asked_again = (message && message->sent_twice) ||
                    (partner->dirty && distance(psn, partner->dirty_until) > 0);
    }
    const Arrival seen =
        flow.responses.observe(packet, traits, partner ? &partner->messages : nullptr, asked_again);
    arrival.missing = seen.missing;
    arrival.repeated_response = seen.repeated_response;
    if (!partner) return;
    if (seen.missing > 0) partner->requests.response_gap(expected, packet.time, packet.frame);
    answer(*partner, packet, traits, arrival);
  }

  // `packet` answers requests of `asker` up to its PSN: times them.
  void answer(HalfFlow& asker, const Observation& packet, OpcodeTraits traits, Arrival& arrival) {
    const Psn psn(packet.psn);
    Connection& connection = connections_[asker.connection - 1];
    const bool news =
        !asker.requests.acknowledged_any() || distance(asker.requests.una(), psn) >= 0;
    const bool clean = !asker.dirty || distance(psn, asker.dirty_until) <= 0;
    if (asker.dirty && clean) asker.dirty = false;
    if (const RecentPacket* request = recent_.find(asker.id, packet.psn, false)) {
      arrival.answers_frame = request->frame;
      arrival.answers_time = request->time;
      const bool timed = news && clean && !(request->flags & kRecentSentTwice) &&
                         packet.time >= request->time && !traits.is(kReadResponse);
      if (timed) {
        const u64 rtt = packet.time - request->time;
        add_sample(connection.times.ack, rtt);
        if (connection.shortest_rtt == 0 || rtt < connection.shortest_rtt)
          connection.shortest_rtt = std::max<u64>(rtt, 1);
      }
    }
    complete_messages(asker, connection, packet, traits);
    asker.requests.acknowledged(psn, packet.time, asker.id, settlements_);
  }

  void complete_messages(HalfFlow& asker, Connection& connection, const Observation& packet,
                         OpcodeTraits traits) {
    const Psn psn(packet.psn);
    if (traits.is(kReadResponse) && !asker.messages.empty()) {
      Message* read = asker.messages.find(psn);
      if (read && read->verb == Verb::read) {
        if (read->first_response == 0) {
          read->first_response = packet.time;
          if (!read->sent_twice && packet.time >= read->start_time && read->first == psn)
            add_sample(connection.times.read_first, packet.time - read->start_time);
        }
        const bool last = read->end == psn + 1u;
        if (last && !read->sent_twice && packet.time >= read->start_time)
          add_sample(connection.times.read, packet.time - read->start_time);
      }
    }
    while (!asker.messages.empty()) {
      const Message& message = asker.messages.front();
      if (!message.whole || distance(message.end, psn + 1u) < 0) break;
      const bool answered_here = message.verb != Verb::read || message.end == psn + 1u;
      if (answered_here && message.started && !message.sent_twice &&
          packet.time >= message.start_time)
        add_sample(connection.times.message, packet.time - message.start_time);
      asker.messages.pop();
    }
  }

  // --- pairing

  void note_unpaired(HalfFlow& flow, const Observation& packet) {
    // A half-flow that stays alone, as in a capture of one direction, is noted ever more rarely.
    const u32 count = ++flow.unpaired_requests;
    if (count > 1024 && (count & 63) != 0) return;
    pairing_.note_request(flow.key, packet.psn, flow.id, packet.frame);
  }

  void find_partner(HalfFlow& flow, const Observation& packet, OpcodeTraits traits) {
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
    const Syndrome syndrome(packet.syndrome());
    if (traits.is(kAcknowledge) && syndrome.is_nak())
      pairing_.candidates(flow.key, (packet.psn - 1) & 0xff'ffff, consider);
    if (found == 0 || unclear) return;
    join(flow, flows_.at(found), Evidence::psn);
  }

  void join(HalfFlow& one, HalfFlow& other, Evidence evidence) {
    Connection& connection = connections_.emplace_back();
    connection.id = static_cast<u32>(connections_.size());
    connection.flows = {std::min(one.id, other.id), std::max(one.id, other.id)};
    connection.evidence = evidence;
    one.partner = other.id;
    other.partner = one.id;
    one.connection = other.connection = connection.id;
    const u16 mtu = std::max(one.path_mtu, other.path_mtu);
    if (mtu != 0 && one.path_mtu == 0) set_mtu(one, mtu);
    if (mtu != 0 && other.path_mtu == 0) set_mtu(other, mtu);
  }

  void weigh_pair(HalfFlow& flow, HalfFlow& partner, Psn psn) {
    Connection& connection = connections_[flow.connection - 1];
    const bool fits = partner.requests.started() && distance(psn, partner.requests.next()) > -64 &&
                      distance(psn, partner.requests.next()) < (1 << 16);
    if (fits) {
      connection.support++;
      return;
    }
    connection.contradictions++;
    if (connection.evidence == Evidence::cm || connection.contradictions < 8 ||
        connection.contradictions < connection.support)
      return;
    connection.broken = true;
    flow.partner = partner.partner = 0;
    flow.connection = partner.connection = 0;
  }

  // Two hosts that talk through one QP each need no further proof.
  void pair_lonely() {}

  FlowTable flows_;
  RecentPackets recent_;
  PairingIndex pairing_;
  std::vector<Connection> connections_;
  Settlements settlements_;
  u64 max_flows_;
  u64 untracked_packets_ = 0;
  static constexpr std::size_t kPrefetched = 256;
};

}  // namespace roce::flow
