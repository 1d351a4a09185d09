// SPDX-License-Identifier: BSD-3-Clause
// RequestStream: packets that were not the next one. Gaps and what fills them, repeats, captures of
// the same packet twice, and packets of another sequence.

#pragma once

#include "roce/flow/request_stream.hpp"

namespace roce::flow {

[[gnu::noinline]] inline Arrival RequestStream::observe_unexpected(const Observation& packet,
                                                                   u32 width,
                                                                   const RequestContext& context,
                                                                   Settlements& out) {
  const Psn psn(packet.psn);
  Arrival arrival{.stream = StreamKind::request};
  packets_++;
  if (!started_) {
    begin(packet, width);
    arrival.packet_class = PacketClass::first;
    return arrival;
  }
  const i32 ahead = distance(next_, psn);
  if (ahead > kFar || ahead < -kFar) return observe_far(packet, width, context, out);
  stale_in_a_row_ = 0;
  if (psn == responder_next_) {
    responder_next_ = psn + width;
  } else if (distance(psn, responder_next_) > 0) {
    trouble().counts.duplicate_requests++;
  }
  if (ahead < 0) return observe_earlier(packet, width, context, out);

  if (recovery_) {
    settle_pending_late(out);
    leave_episode();
    settle_episodes(context.flow, out);
  }
  if (ahead > 0) {
    Recovery& recovery = trouble();
    Hole hole;
    hole.first = next_;
    hole.count = static_cast<u32>(ahead);
    hole.opened = packet.time;
    hole.opened_frame = packet.frame;
    hole.opener_ip_id = packet.ip_id;
    hole.has_ip_id = packet.has(kHasIpId);
    recovery.holes.add(hole);
    recovery.counts.gaps++;
    recovery.counts.missing_psns += hole.count;
    arrival.missing = hole.count;
  }
  if (recovery_) recovery_->run.advance(psn, width);
  next_ = psn + width;
  note_ip_id(packet);
  arrival.packet_class = ahead == 0 ? PacketClass::in_order : PacketClass::gap;
  return arrival;
}

inline void RequestStream::begin(const Observation& packet, u32 width) {
  started_ = true;
  first_ = Psn(packet.psn);
  next_ = responder_next_ = first_ + width;
  last_ip_id_ = packet.ip_id;
  stale_in_a_row_ = 0;
}

// Too far away to be a loss or a repeat. After a long silence, or when such packets follow each
// other, the QP number has a new owner.
inline Arrival RequestStream::observe_far(const Observation& packet, u32 width,
                                          const RequestContext& context, Settlements& out) {
  Arrival arrival{.stream = StreamKind::request};
  const Psn psn(packet.psn);
  const bool follows = stale_in_a_row_ > 0 && psn == trouble().stale_next;
  stale_in_a_row_ = follows ? static_cast<u8>(stale_in_a_row_ + 1) : u8{1};
  trouble().stale_next = psn + width;
  const bool silent = packet.time > context.last_event + kEpochSilence;
  if (silent || stale_in_a_row_ >= kStaleSequence) {
    restart_epoch(context.flow, out);
    begin(packet, width);
    arrival.packet_class = PacketClass::first;
    return arrival;
  }
  trouble().counts.stale++;
  arrival.packet_class = PacketClass::stale;
  return arrival;
}

inline Arrival RequestStream::observe_earlier(const Observation& packet, u32 width,
                                              const RequestContext& context, Settlements& out) {
  const Psn psn(packet.psn);
  Recovery& recovery = trouble();
  Arrival arrival{.stream = StreamKind::request};
  const bool asked_for =
      recovery.sequence_nak.valid || recovery.rnr_nak.valid || context.answer_skipped;
  const u64 reaction = asked_for || rewinds(psn) ? 0 : std::max<u64>(context.rtt, 50'000);
  if (context.before && is_capture_of(*context.before, packet, ids_differ(), reaction)) {
    packets_--;
    recovery.counts.duplicate_captures++;
    if (recovery.counts.duplicate_requests > 0) recovery.counts.duplicate_requests--;
    arrival.packet_class = PacketClass::duplicate_capture;
    return arrival;
  }
  Hole* hole = recovery.holes.find(psn);
  if (!context.repairs) {
    if (hole) note_late(recovery.counts, distance(psn, next_), packet.time, hole->opened);
    recovery.holes.remove(psn, width);
    return late(arrival);
  }
  if (recovery.in_episode && distance(recovery.run.next, psn) >= 0)
    return sent_again(packet, width, hole != nullptr, arrival);
  if (recovery.in_episode && precedes_run(packet)) return overtaken_start(packet, width, arrival);

  if (recovery.pending_count > 0) {
    const PendingFill& last = recovery.pending[recovery.pending_count - 1];
    const bool follows = psn == last.psn + last.width;
    if (follows && !hole) {
      promote_pending(context, out);
      return sent_again(packet, width, false, arrival);
    }
    if (!follows || recovery.pending_count == recovery.pending.size()) settle_pending_late(out);
  }

  if (hole) return observe_filling(packet, width, *hole, context, arrival, out);
  if (recovery.in_episode && late_within_run(packet)) {
    recovery.run.skipped.remove(psn, width);
    return count_again(packet, arrival);
  }
  restart(packet.time, packet.frame, psn, width, context, out);
  return sent_again(packet, width, false, arrival);
}

// Whether a resend is under way in which `psn` comes next: then it is no second capture.
inline bool RequestStream::rewinds(Psn psn) const {
  const Recovery& recovery = *recovery_;
  if (recovery.in_episode) return distance(recovery.run.next, psn) >= 0;
  if (recovery.pending_count == 0) return false;
  const PendingFill& last = recovery.pending[recovery.pending_count - 1];
  return psn == last.psn + last.width;
}

inline void RequestStream::note_late(TroubleCounts& counts, i32 overtook, u64 time, u64 opened) {
  // `overtook` reaches to the next expected packet, so it counts the late one too.
  counts.latest_psns = std::max(counts.latest_psns, static_cast<u32>(std::max(overtook - 1, 0)));
  counts.latest_time = std::max(counts.latest_time, time - std::min(opened, time));
}

inline Arrival RequestStream::late(Arrival arrival) {
  recovery_->counts.reordered++;
  arrival.packet_class = PacketClass::reordered;
  return arrival;
}

// Whether the packet was sent after all new ones, yet before the one that seemed to begin the
// resend.
inline bool RequestStream::precedes_run(const Observation& packet) const {
  if (!ids_differ() || !packet.has(kHasIpId)) return false;
  if (distance(Psn(packet.psn), recovery_->run.first) <= 0) return false;
  return static_cast<std::int16_t>(packet.ip_id - last_ip_id_) > 0 &&
         static_cast<std::int16_t>(packet.ip_id - recovery_->run.first_ip_id) < 0;
}

// The resend began here: its successors overtook it.
inline Arrival RequestStream::overtaken_start(const Observation& packet, u32 width,
                                              Arrival arrival) {
  Recovery& recovery = *recovery_;
  const Psn psn(packet.psn);
  recovery.holes.remove(psn, width);
  const i32 between = distance(psn + width, recovery.run.first);
  if (between > 0) recovery.run.skipped.add({psn + width, static_cast<u32>(between)});
  recovery.run.first = psn;
  recovery.run.first_ip_id = packet.ip_id;
  Episode& episode = recovery.episodes[recovery.episode_count - 1];
  episode.restart = psn;
  episode.result.restart_psn = psn.value();
  return count_again(packet, arrival);
}

// A packet that was sent again, and overtaken by its successors of the same run.
inline bool RequestStream::late_within_run(const Observation& packet) {
  const Psn psn(packet.psn);
  if (recovery_->run.skipped.find(psn) == nullptr) return false;
  if (ids_differ() && packet.has(kHasIpId))
    return static_cast<std::int16_t>(packet.ip_id - recovery_->run_ip_id) < 0;
  const NakMemory& nak = recovery_->sequence_nak;
  return !(nak.valid && nak.psn == psn) && packet.time - recovery_->run_time < kMillisecond;
}

inline RequestStream::Fill RequestStream::judge_fill(const Observation& packet, const Hole& hole,
                                                     const RequestContext& context) const {
  if (ids_differ() && packet.has(kHasIpId) && hole.has_ip_id) {
    const auto after = static_cast<std::int16_t>(packet.ip_id - hole.opener_ip_id);
    if (after != 0) return after < 0 ? Fill::late : Fill::sent_again;
  }
  const NakMemory& nak = recovery_->sequence_nak;
  if (nak.valid && nak.time >= hole.opened && distance(nak.psn, Psn(packet.psn)) >= 0)
    return Fill::sent_again;
  const u64 limit = std::max(kMillisecond, 2 * context.rtt);
  return packet.time - std::min(hole.opened, packet.time) >= limit ? Fill::sent_again : Fill::open;
}

inline Arrival RequestStream::observe_filling(const Observation& packet, u32 width,
                                              const Hole& hole, const RequestContext& context,
                                              Arrival arrival, Settlements& out) {
  Recovery& recovery = *recovery_;
  const Psn psn(packet.psn);
  switch (judge_fill(packet, hole, context)) {
    case Fill::late:
      note_late(recovery.counts, distance(psn, next_), packet.time, hole.opened);
      settle_pending_late(out);
      recovery.holes.remove(psn, width);
      recovery.run.skipped.remove(psn, width);
      return late(arrival);
    case Fill::sent_again:
      settle_pending_late(out);
      restart(packet.time, packet.frame, psn, width, context, out);
      return sent_again(packet, width, true, arrival);
    case Fill::open: break;
  }
  recovery.pending[recovery.pending_count++] = {.psn = psn,
                                                .width = width,
                                                .frame = packet.frame,
                                                .time = packet.time,
                                                .payload_size = packet.payload_size,
                                                .opened = hole.opened,
                                                .overtook = static_cast<u32>(distance(psn, next_))};
  recovery.holes.remove(psn, width);
  arrival.packet_class = PacketClass::reordered;
  arrival.provisional = true;
  return arrival;
}

// Nothing came again behind the packets that filled holes: they were late.
inline void RequestStream::settle_pending_late(Settlements& out) {
  Recovery& recovery = *recovery_;
  for (std::size_t i = 0; i < recovery.pending_count; i++) {
    const PendingFill& fill = recovery.pending[i];
    recovery.run.skipped.remove(fill.psn, fill.width);
    recovery.counts.reordered++;
    note_late(recovery.counts, static_cast<i32>(fill.overtook), fill.time, fill.opened);
    if (out.wanted) out.classes.push_back({fill.frame, PacketClass::reordered, 0});
  }
  recovery.pending_count = 0;
}

// Their successors came again too: they were the start of a restart.
inline void RequestStream::promote_pending(const RequestContext& context, Settlements& out) {
  Recovery& recovery = *recovery_;
  const std::size_t count = std::exchange(recovery.pending_count, 0);
  const PendingFill& start = recovery.pending[0];
  restart(start.time, start.frame, start.psn, start.width, context, out);
  for (std::size_t i = 0; i < count; i++) {
    const PendingFill& fill = recovery.pending[i];
    Episode& episode = recovery.episodes[recovery.episode_count - 1];
    episode.result.packets++;
    recovery.counts.retransmissions++;
    recovery.counts.retransmitted_bytes += fill.payload_size;
    move_run(episode, fill.psn, fill.width);
    if (out.wanted)
      out.classes.push_back({fill.frame, PacketClass::retransmission, episode.result.number});
  }
}

}  // namespace roce::flow
