// SPDX-License-Identifier: BSD-3-Clause
// RequestStream: recovery episodes, in which a sender sends again. Why it does so, and where what
// it sends again had been lost.

#pragma once

#include "roce/flow/request_stream.hpp"

namespace roce::flow {

[[gnu::noinline]] inline void RequestStream::settle_answered(Psn psn, u32 flow, Settlements& out) {
  for_open_episodes(flow, out, [&](Episode& episode) {
    if (distance(episode.restart, psn) < 0) return;
    // An answer to what has not been sent again yet cannot be due to the resend. Nor is it when
    // the first transmission passed with successors and the responder did not ask for it: it
    // would have missed it when they came.
    const bool before_resend =
        distance(episode.sent_to, psn) >= 0 && distance(psn, episode.old_end) > 0;
    if (!before_resend && !episode.would_be_missed) return;
    decide(episode, episode.earlier_copy_answered ? Place::ambiguous : Place::response);
  });
}

// The sender starts over at `psn`.
inline void RequestStream::restart(u64 time, u64 frame, Psn psn, u32 width,
                                   const RequestContext& context, Settlements& out) {
  Recovery& recovery = *recovery_;
  leave_episode();
  settle_episodes(context.flow, out);
  if (recovery.episode_count == recovery.episodes.size()) {
    Episode& oldest = recovery.episodes[0];
    if (oldest.place_open) decide(oldest, Place::ambiguous);
    settle_episodes(context.flow, out, true);
  }
  Episode episode;
  episode.result = {.number = ++out.last_episode,
                    .flow = context.flow,
                    .restart_psn = psn.value(),
                    .start_time = time,
                    .start_frame = frame,
                    .silence = time - std::min(context.last_event, time)};
  recovery.restarted = true;
  episode.restart = psn;
  episode.sent_to = psn;
  episode.old_end = next_;
  episode.seen_before = recovery.run.saw(psn);
  episode.answers_over = answers_over(psn);
  // A responder asks once: if it did before, its silence now says nothing.
  const bool asked_before = recovery.sequence_nak.frame != 0 && recovery.sequence_nak.psn == psn;
  episode.would_be_missed =
      episode.seen_before && !asked_before && distance(psn + width, recovery.run.next) > 0;
  judge(episode, psn, width, context);
  recovery.episodes[recovery.episode_count++] = episode;
  recovery.in_episode = true;
  recovery.run = {};
  recovery.run.first = recovery.run.next = psn;
  recovery.run.start_time = time;
  recovery.run.resent = true;
  answers_ = 0;
  recovery.sequence_nak.valid = recovery.rnr_nak.valid = recovery.response_gap.valid = false;
  recovery.counts.episodes++;
}

// Cause and place of a restart, from what was seen before it.
inline void RequestStream::judge(Episode& episode, Psn psn, u32 width,
                                 const RequestContext& context) {
  Recovery& recovery = *recovery_;
  const auto asks_for = [&](const NakMemory& nak) {
    if (!nak.valid || psn == nak.psn) return nak.valid;
    // The first packets sent again may have been lost before the tap.
    const bool progress = distance(nak.psn, una_) > 0;
    return !progress && distance(nak.psn, psn) > 0 && distance(nak.psn, psn) < 64;
  };
  const bool acked = acked_ && distance(psn, una_) > 0;
  const bool capture_loss_near =
      recovery.capture_loss_time != 0 &&
      episode.result.start_time - recovery.capture_loss_time < 10 * kMillisecond;
  const Place lost_before_tap = capture_loss_near ? Place::ambiguous : Place::upstream;

  Cause cause = Cause::timeout;
  if (!context.answered)
    cause = episode.result.silence >= kLongSilence ? Cause::timeout : Cause::unknown;
  else if (asks_for(recovery.sequence_nak))
    cause = Cause::nak_sequence;
  else if (asks_for(recovery.rnr_nak))
    cause = Cause::rnr_nak;
  else if (context.inside_old_read ||
           (recovery.response_gap.valid && distance(psn, recovery.response_gap.psn) >= 0 &&
            distance(recovery.response_gap.psn, psn + width) > 0))
    cause = Cause::implied_nak;
  episode.result.cause = cause;
  episode.cause_open = cause == Cause::timeout;
  episode.place_open = true;
  // A responder without a buffer drops what follows too, and asks for the same PSN once more: the
  // packet was not lost for that, and the sender waits for the RNR timer.
  const bool by_nak = cause == Cause::rnr_nak || cause == Cause::nak_sequence;
  const bool refused =
      by_nak && asks_for(recovery.rnr_nak) &&
      (cause == Cause::rnr_nak || recovery.rnr_nak.psn == recovery.sequence_nak.psn);
  const NakMemory& asked = refused ? recovery.rnr_nak : recovery.sequence_nak;
  const u64 start = episode.result.start_time;
  episode.result.reaction = by_nak ? start - std::min(asked.time, start) : 0;
  episode.result.rnr_timer = refused ? asked.timer : 0;

  // When the first packets sent again were lost once more, the restart was at the PSN asked for.
  const Psn asked_for = cause == Cause::nak_sequence ? recovery.sequence_nak.psn : psn;
  const bool reached = recovery.run.reached(asked_for);
  episode.seen_before = recovery.run.saw(asked_for);
  // A sender restarts at the oldest PSN it misses an answer to, so a resend that the tap saw
  // begin behind `psn` began before it, out of sight.
  const bool began_unseen = recovery.run.resent && distance(recovery.run.first, asked_for) < 0;
  const bool skipped = began_unseen || (reached && !episode.seen_before);
  if (refused) {
    decide(episode, Place::not_ready);
  } else if (recovery.run.resent) {
    if (skipped) {
      decide(episode, lost_before_tap);
    } else if (cause == Cause::implied_nak &&
               (recovery.response_gap.valid || had_answer_over(psn))) {
      decide(episode, Place::response);
    } else if (context.answered_alone ? context.answer_time >= recovery.run.start_time
                                      : had_answer_over(psn)) {
      decide_answered(episode, context);
    } else if (cause == Cause::nak_sequence) {
      decide_named(episode);
    } else if (acked) {
      // An earlier copy arrived; of the latest nothing is known.
      episode.earlier_copy_answered = true;
    }
  } else if (acked) {
    decide_answered(episode, context);
  } else if (cause == Cause::implied_nak) {
    decide(episode, Place::response);
  } else if (skipped) {
    decide(episode, lost_before_tap);
  } else if (cause == Cause::nak_sequence) {
    decide_named(episode);
  }
}

// The responder had the packet: its answer was lost or late, or the sender did not wait for it.
// One answer can have been lost behind the tap; of two, one should have come through.
// A READ or atomic has but one answer.
inline void RequestStream::decide_answered(Episode& episode, const RequestContext& context) {
  const bool twice = !context.answered_alone && episode.answers_over >= 2;
  decide(episode, twice ? Place::spurious : Place::response);
}

// The responder asked for the packet. Seen here, it was lost behind the tap; so it was if the
// tap never missed any.
inline void RequestStream::decide_named(Episode& episode) {
  if (episode.seen_before ||
      (recovery_->counts.gaps == 0 && distance(first_, recovery_->sequence_nak.psn) >= 0))
    decide(episode, Place::downstream);
}

inline Arrival RequestStream::sent_again(const Observation& packet, u32 width, bool was_missing,
                                         Arrival arrival) {
  Recovery& recovery = *recovery_;
  Episode& episode = recovery.episodes[recovery.episode_count - 1];
  const Psn psn(packet.psn);
  if (was_missing)
    recovery.holes.remove(psn, width);
  else
    episode.only_missing = false;
  if (psn == recovery.run.first) recovery.run.first_ip_id = packet.ip_id;
  recovery.run_ip_id = packet.ip_id;
  recovery.run_time = packet.time;
  move_run(episode, psn, width);
  return count_again(packet, arrival);
}

inline void RequestStream::move_run(Episode& episode, Psn psn, u32 width) {
  Recovery& recovery = *recovery_;
  recovery.run.advance(psn, width);
  episode.sent_to = recovery.run.next;
  if (distance(next_, recovery.run.next) > 0) next_ = recovery.run.next;
  if (recovery.run.next == next_) recovery.in_episode = false;
}

inline Arrival RequestStream::count_again(const Observation& packet, Arrival arrival) {
  Episode& episode = recovery_->episodes[recovery_->episode_count - 1];
  episode.result.packets++;
  recovery_->counts.retransmissions++;
  recovery_->counts.retransmitted_bytes += packet.payload_size;
  arrival.packet_class = PacketClass::retransmission;
  arrival.episode = episode.result.number;
  return arrival;
}

// The latest episode has come to its end; what it sent says whether it was selective.
inline void RequestStream::leave_episode() {
  Recovery& recovery = *recovery_;
  recovery.in_episode = false;
  if (recovery.episode_count == 0) return;
  Episode& episode = recovery.episodes[recovery.episode_count - 1];
  if (episode.settled) return;
  if (episode.cause_open && episode.only_missing) episode.result.cause = Cause::selective;
  episode.cause_open = false;
  episode.settled = true;
}

// `settled` episodes send no more; those with a place and a cause leave the list, and with
// `force` those without an answer in all the trace.
inline void RequestStream::settle_episodes(u32 flow, Settlements& out, bool force) {
  Recovery& recovery = *recovery_;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < recovery.episode_count; i++) {
    Episode& episode = recovery.episodes[i];
    const bool unknown = episode.result.cause == Cause::unknown;
    if (unknown && acked_)  // the other half-flow is there, after all
      episode.result.cause = episode.only_missing ? Cause::selective : Cause::timeout;
    if (!episode.settled || episode.place_open || (unknown && !acked_ && !force)) {
      if (kept != i) recovery.episodes[kept] = episode;
      kept++;
      continue;
    }
    recovery.counts.by_cause[static_cast<std::size_t>(episode.result.cause)] +=
        episode.result.packets;
    recovery.counts.episodes_by_cause[static_cast<std::size_t>(episode.result.cause)]++;
    recovery.counts.by_place[static_cast<std::size_t>(episode.result.place)] +=
        episode.result.packets;
    if (episode.result.place == Place::not_ready) recovery.counts.episodes_not_ready++;
    episode.result.flow = flow;
    if (out.wanted) out.episodes.push_back(episode.result);
  }
  recovery.episode_count = kept;
}

[[gnu::noinline]] inline void RequestStream::close_holes(Psn una, u64 time) {
  // The responder has what the tap never saw: the capture missed it.
  recovery_->holes.erase_if([&](const Hole& hole) {
    if (distance(hole.end(), una) < 0) return false;
    recovery_->counts.capture_missed_psns += hole.count;
    recovery_->capture_loss_time = time;
    return true;
  });
  follow_up();
  note_state();
}

}  // namespace roce::flow
