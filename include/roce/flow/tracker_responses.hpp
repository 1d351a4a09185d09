// SPDX-License-Identifier: BSD-3-Clause
// Tracker: responses, and what they say of the requests that they answer.

#pragma once

#include "roce/flow/tracker.hpp"

namespace roce::flow {

inline void Tracker::observe_response(HalfFlow& flow, const Observation& packet,
                                      OpcodeTraits traits, u64 last_time, Arrival& arrival) {
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
  if (asker && !fits(*asker, psn)) [[unlikely]] {
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

[[gnu::noinline]] inline void Tracker::observe_refusal(HalfFlow& flow, HalfFlow* asker,
                                                       const Observation& packet,
                                                       Syndrome syndrome) {
  if (syndrome.is_rnr_nak()) {
    flow.rare().rnr_naks++;
    if (asker)
      asker->requests.rnr_nak(Psn(packet.psn), packet.time, packet.frame, syndrome.rnr_timer_ns());
  } else if (syndrome.is_nak()) {
    observe_nak(flow, asker, packet, syndrome.nak_code());
  }
}

// A response that does not go on from the one before. False: it is that one, captured again.
[[gnu::noinline]] inline bool Tracker::observe_repeat(HalfFlow& flow, const Observation& packet,
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
inline bool Tracker::captured_before(const HalfFlow& flow, const Observation& packet) const {
  if (!packet.has(kHasIpId) || packet.ip_id == 0) return false;
  return history_.find(flow.last_past, [&](const PastPacket& past) {
    return past.psn() == packet.psn && is_capture_of(past, packet, true, 0);
  }) != nullptr;
}

inline void Tracker::note_ack_back(HalfFlow& flow, const Observation& packet) {
  const HalfFlow* asker = partner_of(flow);
  if (!asker || asker->requests.recovery() || !Syndrome(packet.syndrome()).is_ack()) return;
  if (distance(Psn(packet.psn), flow.responses.last_psn) > 0)
    flow.rare().breaches.note(&Breaches::acks_back, packet.frame);
}

inline void Tracker::observe_nak(HalfFlow& flow, HalfFlow* asker, const Observation& packet,
                                 NakCode code) {
  const auto index = static_cast<std::size_t>(code);
  RareState& rare = flow.rare();
  if (index < rare.naks.size()) rare.naks[index]++;
  if (code != NakCode::sequence) {
    if (rare.first_nak_frame == 0) rare.first_nak_frame = packet.frame;
    return;
  }
  if (!asker) return;
  if (asker->requests.acknowledged_any() && distance(Psn(packet.psn), asker->requests.una()) > 0)
    rare.breaches.note(&Breaches::naks_back, packet.frame);
  time_nak(*asker, packet);
  asker->requests.sequence_nak(Psn(packet.psn), packet.time, packet.frame, asker->id, settlements_);
}

// From the packet at which the responder had to notice that one was missing.
inline void Tracker::time_nak(HalfFlow& asker, const Observation& packet) {
  const Psn missing(packet.psn);
  if (asker.requests.was_refused(missing)) return;
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

inline void Tracker::observe_data_response(HalfFlow& flow, HalfFlow* asker,
                                           const Observation& packet, OpcodeTraits traits,
                                           Arrival& arrival) {
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
inline void Tracker::answer(const HalfFlow& flow, HalfFlow& asker, const Observation& packet,
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

inline void Tracker::time_read(HalfFlow& asker, const Observation& packet, u32 connection,
                               Arrival& arrival) {
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
  const bool known = mtu != 0 || before == 0;
  if (known && before * mtu + packet.payload_size != read->bytes && !packet.has(kIcrcBad))
    asker.rare().breaches.note(&Breaches::read_lengths, packet.frame);
}

inline void Tracker::complete(HalfFlow& asker, const Message& message, const Observation& packet,
                              u32 connection) {
  if (message.verb == Verb::read && asker.reads_outstanding > 0) asker.reads_outstanding--;
  const bool answered_here = message.verb != Verb::read || message.end == Psn(packet.psn) + 1u;
  if (!answered_here || !message.started || message.sent_twice || packet.time < message.start_time)
    return;
  const u64 passed = packet.time - message.start_time;
  sample(connection, Times::message, passed);
  message_times_.add(message.verb, message.bytes, passed);
}

}  // namespace roce::flow
