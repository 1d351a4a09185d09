// SPDX-License-Identifier: BSD-3-Clause
// The request sequence of one half-flow: which packet was new, skipped some, came late, or was
// sent again, and in the last case why and from where it had been lost.
//
// A class can depend on what comes next, and a cause or place on the peer's answers, so results
// come in two steps: an Arrival at once, and Settlements when the rest is known.

#pragma once

#include <memory>
#include <vector>

#include "roce/flow/history.hpp"
#include "roce/flow/recovery.hpp"

namespace roce::flow {

/// Verdicts that became final. Whoever owns the tracker takes them out after each batch.
struct Settlements {
  std::vector<SettledClass> classes;
  std::vector<SettledEpisode> episodes;
  u32 last_episode = 0;
  bool wanted = false;  // keep them; counts are kept in any case
};

/// What the stream is told about its surroundings with each packet.
struct RequestContext {
  const PastPacket* before = nullptr;  // the same PSN in this stream, seen last
  u64 rtt = 0;         // shortest time from a request to its response, nanoseconds; 0 unknown
  u64 last_event = 0;  // time of the last packet of either half-flow, nanoseconds
  u32 flow = 0;
  bool answered = false;         // the other half-flow was captured
  bool repairs = true;           // a reliable service: losses are sent again
  bool answered_alone = false;   // READ, atomic: only a response with its own PSN answers it
  u64 answer_time = 0;           // of the last response with its PSN; 0 none
  bool inside_old_read = false;  // a READ request for the rest of an earlier READ
};

class RequestStream {
 public:
  /// Whether a packet with `psn` is simply the next one; then take() takes it.
  bool expects(Psn psn) const { return (psn == next_) & started_ & !busy_; }

  /// Takes a packet that the stream expects(), and that occupies `width` PSNs (at least 1).
  void take(const Observation& packet, u32 width) {
    note_ip_id(packet);
    const Psn end = next_ + width;
    if (responder_next_ == next_) responder_next_ = end;
    next_ = end;
    packets_++;
    stale_in_a_row_ = 0;
  }

  /// Takes any request packet.
  Arrival observe(const Observation& packet, u32 width, const RequestContext& context,
                  Settlements& out) {
    if (expects(Psn(packet.psn))) {
      take(packet, width);
      return {.packet_class = PacketClass::in_order, .stream = StreamKind::request};
    }
    follow_up();
    const Arrival arrival = observe_unexpected(packet, width, context, out);
    note_state();
    return arrival;
  }

  /// The latest packet, with `psn`, was damaged on its way to the tap: no receiver takes it.
  void damaged(Psn psn) {
    follow_up();
    Recovery& recovery = trouble();
    if (recovery.run.reached(psn)) recovery.run.skipped.add({psn, 1});
    if (distance(psn, responder_next_) == 1) responder_next_ = psn;
  }

  /// The responder answered everything up to and including `psn`.
  void acknowledged(Psn psn, u64 time, u32 flow, Settlements& out) {
    if (!started_) return;
    move_una(psn + 1, time);
    answers_ = static_cast<u8>(std::min(answers_ + 1, 2));
    answer_before_ = std::exchange(last_answer_, psn);
    if (open_) [[unlikely]]
      settle_answered(psn, flow, out);
  }

  /// Notes a time from a request to its response, nanoseconds.
  void note_rtt(u64 rtt) {
    const u32 short_rtt = static_cast<u32>(std::clamp<u64>(rtt, 1, 0xffff'ffff));
    if (shortest_rtt == 0 || short_rtt < shortest_rtt) shortest_rtt = short_rtt;
  }

  /// Notes how many PSNs are on their way.
  void note_outstanding() {
    if (!acked_) return;
    const i32 outstanding = distance(una_, next_);
    if (outstanding > static_cast<i32>(most_outstanding))
      most_outstanding = static_cast<u32>(outstanding);
  }

 private:
  [[gnu::noinline]] void settle_answered(Psn psn, u32 flow, Settlements& out) {
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

 public:
  /// The responder expects `psn` next, and misses it.
  void sequence_nak(Psn psn, u64 time, u64 frame, u32 flow, Settlements& out) {
    if (!started_) return;
    move_una(psn, time);
    follow_up();
    Recovery& recovery = trouble();
    responder_next_ = psn;
    recovery.sequence_nak = {psn, time, frame, true, 0};
    if (Hole* hole = recovery.holes.find(psn)) hole->named_by_nak = true;
    for_open_episodes(flow, out, [&](Episode& episode) {
      if (distance(episode.sent_to, psn) > 0 && distance(psn, episode.old_end) > 0)
        decide(episode, Place::response);
      if (psn == episode.restart && episode.seen_before) decide(episode, Place::downstream);
    });
  }

  /// The responder had no receive buffer for `psn`.
  /// `timer`: how long the requester shall wait, nanoseconds.
  void rnr_nak(Psn psn, u64 time, u64 frame, u32 timer) {
    if (!started_) return;
    move_una(psn, time);
    follow_up();
    trouble().rnr_nak = {psn, time, frame, true, timer};
    responder_next_ = psn;
  }

  /// READ responses from `psn` on were skipped at the tap.
  void response_gap(Psn psn, u64 time, u64 frame) {
    if (!started_) return;
    follow_up();
    trouble().response_gap = {psn, time, frame, true, 0};
  }

  /// The expectation that a READ request left was wrong: the path MTU is known now.
  void correct_next(Psn next) {
    if (responder_next_ == next_) responder_next_ = next;
    next_ = next;
    if (recovery_ && !recovery_->in_episode) recovery_->run.next = next_;
  }

  /// Forgets the sequence: the QP number was given to another QP.
  void restart_epoch(u32 flow, Settlements& out) {
    finish(flow, out);
    if (recovery_) {
      const TroubleCounts counts = recovery_->counts;
      *recovery_ = Recovery{};
      recovery_->counts = counts;
    }
    started_ = acked_ = false;
    busy_ = open_ = dirty = false;
    answers_ = 0;
  }

  /// The end of the capture: whatever is open is settled as well as it can be.
  void finish(u32 flow, Settlements& out) {
    if (!recovery_) return;
    settle_pending_late(out);
    leave_episode();
    for (std::size_t i = 0; i < recovery_->episode_count; i++) {
      Episode& episode = recovery_->episodes[i];
      if (episode.place_open) decide(episode, Place::ambiguous);
    }
    settle_episodes(flow, out, true);
    note_state();
  }

  bool started() const { return started_; }
  Psn first() const { return first_; }
  Psn next() const { return next_; }
  /// Whether the latest run of packets held `psn`.
  bool saw(Psn psn) const {
    if (recovery_) return recovery_->run.saw(psn);
    return started_ && distance(first_, psn) >= 0 && distance(psn, next_) > 0;
  }
  /// The oldest PSN without an answer; meaningful when acknowledged_any().
  Psn una() const { return una_; }
  bool acknowledged_any() const { return acked_; }
  /// Request packets, duplicate captures left out.
  u64 packets() const { return packets_; }
  /// Messages seen whole or in part: each Last, Only, READ request and atomic once.
  u64 messages() const { return messages_; }
  void count_message() { messages_++; }
  /// A packet whose PSN means nothing: UD and QP1.
  void count_unsequenced(const Observation& packet, bool ends_message) {
    if (packets_++ == 0) first_ = Psn(packet.psn);
    next_ = Psn(packet.psn) + 1u;
    if (ends_message) messages_++;
  }
  TroubleCounts trouble_counts() const { return recovery_ ? recovery_->counts : TroubleCounts{}; }
  const Recovery* recovery() const { return recovery_.get(); }
  /// The episode that the latest packet began, or null. Asked once.
  const SettledEpisode* just_restarted() {
    if (!recovery_ || !std::exchange(recovery_->restarted, false)) return nullptr;
    if (recovery_->episode_count == 0) return nullptr;
    return &recovery_->episodes[recovery_->episode_count - 1].result;
  }
  /// When the tap saw the first packet that the responder had to miss `psn` at; 0 unknown.
  u64 gap_time(Psn psn) {
    const Hole* hole = recovery_ ? recovery_->holes.find(psn) : nullptr;
    return hole ? hole->opened : 0;
  }
  /// Whether IP identifications tell one transmission from another.
  bool ids_differ() const { return id_steps_ >= 4; }

  static constexpr i32 kFar = 1 << 22;
  static constexpr u64 kEpochSilence = 10'000'000'000;

 private:
  static constexpr u64 kMillisecond = 1'000'000;
  // In a request stream whose answers were not captured: longer than a NAK takes.
  static constexpr u64 kLongSilence = 16 * kMillisecond;

  // While nothing is wrong, the run goes on with the stream, and only next_ is kept.
  void follow_up() {
    if (recovery_ && !busy_) recovery_->run.next = next_;
  }
  void note_state() {
    if (!recovery_) return;
    busy_ = !recovery_->holes.empty() || recovery_->in_episode || recovery_->pending_count != 0;
    open_ = recovery_->any_open();
  }

  Recovery& trouble() {
    if (!recovery_) {
      recovery_ = std::make_unique<Recovery>();
      recovery_->run.first = first_;
      recovery_->run.next = next_;
    }
    return *recovery_;
  }

  // A sender that numbers its datagrams in order lets late packets be told from repeated ones.
  void note_ip_id(const Observation& packet) {
    const u16 step = static_cast<u16>(packet.ip_id - last_ip_id_);
    last_ip_id_ = packet.ip_id;
    const bool follows = packet.has(kHasIpId) && step - 1u < 1023u;
    id_steps_ = static_cast<u8>(follows ? std::min(id_steps_ + 1, 64) : id_steps_ / 2);
  }

  Arrival observe_unexpected(const Observation& packet, u32 width, const RequestContext& context,
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

  void begin(const Observation& packet, u32 width) {
    started_ = true;
    first_ = Psn(packet.psn);
    next_ = responder_next_ = first_ + width;
    last_ip_id_ = packet.ip_id;
    stale_in_a_row_ = 0;
  }

  // Too far away to be a loss or a repeat. After a long silence, or when such packets follow each
  // other, the QP number has a new owner.
  Arrival observe_far(const Observation& packet, u32 width, const RequestContext& context,
                      Settlements& out) {
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

  Arrival observe_earlier(const Observation& packet, u32 width, const RequestContext& context,
                          Settlements& out) {
    const Psn psn(packet.psn);
    Recovery& recovery = trouble();
    Arrival arrival{.stream = StreamKind::request};
    const NakMemory& gap = recovery.response_gap;
    const bool read_again = context.answered_alone && gap.valid && distance(psn, gap.psn) >= 0 &&
                            distance(gap.psn, psn + width) > 0;
    const bool asked_for = recovery.sequence_nak.valid || recovery.rnr_nak.valid || read_again;
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
  bool rewinds(Psn psn) const {
    const Recovery& recovery = *recovery_;
    if (recovery.in_episode) return distance(recovery.run.next, psn) >= 0;
    if (recovery.pending_count == 0) return false;
    const PendingFill& last = recovery.pending[recovery.pending_count - 1];
    return psn == last.psn + last.width;
  }

  static void note_late(TroubleCounts& counts, i32 overtook, u64 time, u64 opened) {
    counts.latest_psns = std::max(counts.latest_psns, static_cast<u32>(std::max(overtook, 0)));
    counts.latest_time = std::max(counts.latest_time, time - std::min(opened, time));
  }

  Arrival late(Arrival arrival) {
    recovery_->counts.reordered++;
    arrival.packet_class = PacketClass::reordered;
    return arrival;
  }

  // Whether the packet was sent after all new ones, yet before the one that seemed to begin the
  // resend.
  bool precedes_run(const Observation& packet) const {
    if (!ids_differ() || !packet.has(kHasIpId)) return false;
    if (distance(Psn(packet.psn), recovery_->run.first) <= 0) return false;
    return static_cast<std::int16_t>(packet.ip_id - last_ip_id_) > 0 &&
           static_cast<std::int16_t>(packet.ip_id - recovery_->run.first_ip_id) < 0;
  }

  // The resend began here: its successors overtook it.
  Arrival overtaken_start(const Observation& packet, u32 width, Arrival arrival) {
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
  bool late_within_run(const Observation& packet) {
    const Psn psn(packet.psn);
    if (recovery_->run.skipped.find(psn) == nullptr) return false;
    if (ids_differ() && packet.has(kHasIpId))
      return static_cast<std::int16_t>(packet.ip_id - recovery_->run_ip_id) < 0;
    const NakMemory& nak = recovery_->sequence_nak;
    return !(nak.valid && nak.psn == psn) && packet.time - recovery_->run_time < kMillisecond;
  }

  enum class Fill : u8 { late, sent_again, open };

  Fill judge_fill(const Observation& packet, const Hole& hole,
                  const RequestContext& context) const {
    if (ids_differ() && packet.has(kHasIpId) && hole.has_ip_id) {
      const auto after = static_cast<std::int16_t>(packet.ip_id - hole.opener_ip_id);
      if (after != 0) return after < 0 ? Fill::late : Fill::sent_again;
    }
    const NakMemory& nak = recovery_->sequence_nak;
    if (nak.valid && nak.time >= hole.opened && distance(nak.psn, Psn(packet.psn)) >= 0)
      return Fill::sent_again;
    const u64 limit = std::max(kMillisecond, 2 * context.rtt);
    return packet.time - std::min(hole.opened, packet.time) >= limit ? Fill::sent_again
                                                                     : Fill::open;
  }

  Arrival observe_filling(const Observation& packet, u32 width, const Hole& hole,
                          const RequestContext& context, Arrival arrival, Settlements& out) {
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
    recovery.pending[recovery.pending_count++] = {
        .psn = psn,
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
  void settle_pending_late(Settlements& out) {
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
  void promote_pending(const RequestContext& context, Settlements& out) {
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

  // The sender starts over at `psn`.
  void restart(u64 time, u64 frame, Psn psn, u32 width, const RequestContext& context,
               Settlements& out) {
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
  void judge(Episode& episode, Psn psn, u32 width, const RequestContext& context) {
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

  // How many of the latest two answers covered `psn`, whenever they came.
  u32 answers_over(Psn psn) const {
    return acked_ ? u32{distance(psn, last_answer_) >= 0} + u32{distance(psn, answer_before_) >= 0}
                  : 0;
  }
  // Whether the responder answered `psn` or later since the last restart.
  bool had_answer_over(Psn psn) const { return answers_ > 0 && distance(psn, last_answer_) >= 0; }

  // The responder had the packet: its answer was lost or late, or the sender did not wait for it.
  // One answer can have been lost behind the tap; of two, one should have come through.
  // A READ or atomic has but one answer.
  void decide_answered(Episode& episode, const RequestContext& context) {
    const bool twice = !context.answered_alone && episode.answers_over >= 2;
    decide(episode, twice ? Place::spurious : Place::response);
  }

  // The responder asked for the packet. Seen here, it was lost behind the tap; so it was if the
  // tap never missed any.
  void decide_named(Episode& episode) {
    if (episode.seen_before ||
        (recovery_->counts.gaps == 0 && distance(first_, recovery_->sequence_nak.psn) >= 0))
      decide(episode, Place::downstream);
  }

  Arrival sent_again(const Observation& packet, u32 width, bool was_missing, Arrival arrival) {
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

  void move_run(Episode& episode, Psn psn, u32 width) {
    Recovery& recovery = *recovery_;
    recovery.run.advance(psn, width);
    episode.sent_to = recovery.run.next;
    if (distance(next_, recovery.run.next) > 0) next_ = recovery.run.next;
    if (recovery.run.next == next_) recovery.in_episode = false;
  }

  Arrival count_again(const Observation& packet, Arrival arrival) {
    Episode& episode = recovery_->episodes[recovery_->episode_count - 1];
    episode.result.packets++;
    recovery_->counts.retransmissions++;
    recovery_->counts.retransmitted_bytes += packet.payload_size;
    arrival.packet_class = PacketClass::retransmission;
    arrival.episode = episode.result.number;
    return arrival;
  }

  // The latest episode has come to its end; what it sent says whether it was selective.
  void leave_episode() {
    Recovery& recovery = *recovery_;
    recovery.in_episode = false;
    if (recovery.episode_count == 0) return;
    Episode& episode = recovery.episodes[recovery.episode_count - 1];
    if (episode.settled) return;
    if (episode.cause_open && episode.only_missing) episode.result.cause = Cause::selective;
    episode.cause_open = false;
    episode.settled = true;
  }

  static void decide(Episode& episode, Place place) {
    episode.result.place = place;
    episode.place_open = false;
  }

  // `settled` episodes send no more; those with a place and a cause leave the list, and with
  // `force` those without an answer in all the trace.
  void settle_episodes(u32 flow, Settlements& out, bool force = false) {
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
      episode.result.flow = flow;
      if (out.wanted) out.episodes.push_back(episode.result);
    }
    recovery.episode_count = kept;
  }

  template <class Judge>
  void for_open_episodes(u32 flow, Settlements& out, Judge judge_one) {
    bool decided = false;
    for (std::size_t i = 0; i < recovery_->episode_count; i++) {
      Episode& episode = recovery_->episodes[i];
      if (!episode.place_open) continue;
      judge_one(episode);
      decided = decided || !episode.place_open;
    }
    if (decided) settle_episodes(flow, out);
    open_ = recovery_->any_open();
  }

  void move_una(Psn una, u64 time) {
    if (acked_ && distance(una_, una) <= 0) return;
    una_ = una;
    acked_ = true;
    if (busy_ && !recovery_->holes.empty()) [[unlikely]]
      close_holes(una, time);
  }
  [[gnu::noinline]] void close_holes(Psn una, u64 time) {
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

  // One cache line, so that a stream in order needs no other.
  Psn next_, una_, first_;
  bool started_ = false;
  bool acked_ = false;
  u8 id_steps_ = 0;
  u8 stale_in_a_row_ = 0;
  u16 last_ip_id_ = 0;

 public:
  u16 path_mtu = 0;      // bytes; 0 unknown
  u32 most_outstanding = 0;  // PSNs
  u32 shortest_rtt = 0;  // request to response, nanoseconds, at most 4.29 s; 0 unknown
  Psn dirty_until;       // PSNs before it were sent twice: no latency samples
  bool dirty = false;

 private:
  bool busy_ = false;  // holes, an episode under way, or packets that may be late
  bool open_ = false;  // an episode waits for its place
  u8 answers_ = 0;     // since the last restart, up to 2
  Psn last_answer_, answer_before_;
  Psn responder_next_;  // what a responder at the tap that takes packets in order only expects
  std::unique_ptr<Recovery> recovery_;
  u32 packets_ = 0;
  u32 messages_ = 0;
  static constexpr u8 kStaleSequence = 8;
};
static_assert(sizeof(RequestStream) == 64);

}  // namespace roce::flow
