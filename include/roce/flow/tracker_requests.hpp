// SPDX-License-Identifier: BSD-3-Clause
// Tracker: requests, and the messages that they make up.

#pragma once

#include "roce/flow/tracker.hpp"

namespace roce::flow {

inline void Tracker::observe_request(HalfFlow& flow, const Observation& packet, OpcodeTraits traits,
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
      note_request_stall(flow, packet.time, last_time, &Stalls::ended_by_request);
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
[[gnu::noinline]] inline bool Tracker::observe_unexpected(HalfFlow& flow, const Observation& packet,
                                                          OpcodeTraits traits, u32 width,
                                                          u64 last_time, Arrival& arrival) {
  note_service(flow, packet);
  RequestContext context{.flow = flow.id, .repairs = traits.is(kRepairs)};
  if (Psn(packet.psn) != flow.requests.next())
    look_around(flow, partner_of(flow), packet, traits, width, last_time, context);
  arrival = flow.requests.observe(packet, width, context, settlements_);
  arrival.flow = flow.id;
  if (arrival.packet_class == PacketClass::duplicate_capture ||
      arrival.packet_class == PacketClass::stale)
    return false;
  if (packet.time - std::min(last_time, packet.time) >= kStall)
    note_request_stall(flow, packet.time, last_time,
                       arrival.packet_class == PacketClass::retransmission
                           ? &Stalls::ended_by_resend
                           : &Stalls::ended_by_request);
  return true;
}

inline void Tracker::note_request_stall(HalfFlow& flow, u64 time, u64 last_time,
                                        u32 Stalls::*ended_by) {
  if (const HalfFlow* partner = partner_of(flow))
    note_stall(flow, flow, *partner, time, last_time, ended_by);
}

// Where nearly all ICRCs are right, a wrong one means a damaged packet.
[[gnu::noinline]] inline void Tracker::note_damaged(HalfFlow& flow, Psn psn) {
  if (flow.icrc_good > 8 * flow.rare().icrc_bad) flow.requests.damaged(psn);
}

// What is needed to judge a packet that was not expected.
inline void Tracker::look_around(HalfFlow& flow, HalfFlow* partner, const Observation& packet,
                                 OpcodeTraits traits, u32 width, u64 last_time,
                                 RequestContext& context) {
  context.before = history_.find(flow.last_past, [&](const PastPacket& past) {
    return past.psn() == packet.psn && kTraits[past.opcode()].is(kRequest);
  });
  context.last_event = last_time;
  context.answered_alone = traits.is(kReadRequest) || traits.verb == Verb::atomic;
  if (traits.is(kReadRequest)) {
    const Message* message = flow.waiting.find(Psn(packet.psn));
    // A PSN that went by, though no request began with it, lies inside a READ.
    context.inside_old_read = message
                                  ? message->verb == Verb::read && message->first != Psn(packet.psn)
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
  if (!context.before || context.answer_time >= context.before->time) return;
  const PastPacket* later = history_.find(partner->last_past, [&](const PastPacket& past) {
    return past.time >= context.before->time && kTraits[past.opcode()].is(kReadResponse) &&
           distance(Psn(packet.psn), Psn(past.psn())) > 0 &&
           distance(Psn(past.psn()), Psn(packet.psn) + width) > 0;
  });
  context.answer_skipped = later != nullptr;
}

[[gnu::noinline]] inline void Tracker::note_restart(HalfFlow& flow) {
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
[[gnu::noinline]] inline bool Tracker::prepare_message(HalfFlow& flow, Psn psn,
                                                       const Arrival& arrival) {
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

inline void Tracker::note_message(HalfFlow& flow, const Observation& packet, OpcodeTraits traits,
                                  u32 width, const Arrival& arrival) {
  const Psn psn(packet.psn);
  Message& message = flow.current;
  if (flow.sending && !traits.is(kStarts)) {
    if (message.end != psn && !traits.is(kRepairs)) [[unlikely]]
      flow.rare().uc_messages_lost++;
    if (!message.sized) message.bytes += packet.payload_size;
  } else {
    if (flow.sending || !traits.is(kStarts) || arrival.missing > 0) [[unlikely]]
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
      flow.most_reads_outstanding = std::max(flow.most_reads_outstanding, ++flow.reads_outstanding);
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
// Between two messages at least one whole message is missing.
[[gnu::noinline]] inline void Tracker::note_broken_message(HalfFlow& flow,
                                                           const Observation& packet,
                                                           OpcodeTraits traits,
                                                           const Arrival& arrival) {
  if (!traits.is(kRepairs) && arrival.missing > 0) flow.rare().uc_messages_lost++;
  if (flow.sending) flow.waiting.push(flow.current);
  if (!traits.is(kStarts) && arrival.packet_class == PacketClass::in_order)
    flow.rare().breaches.note(&Breaches::headless, packet.frame);
}

inline Message* Tracker::message_with(HalfFlow& flow, Psn psn) {
  if (flow.sending && distance(flow.current.first, psn) >= 0) return &flow.current;
  return flow.waiting.find(psn);
}

// Nothing of `waiter`'s exchange moved since `last_time`, or since its partner's last packet.
[[gnu::noinline]] inline void Tracker::note_stall(HalfFlow& keeper, const HalfFlow& waiter,
                                                  const HalfFlow& partner, u64 time, u64 last_time,
                                                  u32 Stalls::*ended_by) {
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
[[gnu::noinline]] inline void Tracker::learn_mtu(HalfFlow& flow, const Observation& packet) {
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

}  // namespace roce::flow
