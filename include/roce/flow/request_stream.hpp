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
  bool answer_skipped = false;   // READ: responses came since, but not with its own PSN
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
  void settle_answered(Psn psn, u32 flow, Settlements& out);

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
  /// Whether the latest RNR NAK was for `psn`: then the responder drops what follows, and says so
  /// by a sequence NAK, though nothing got lost. Such a NAK may pass the tap after the next try
  /// did.
  bool was_refused(Psn psn) const {
    return recovery_ && recovery_->rnr_nak.time != 0 && recovery_->rnr_nak.psn == psn;
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
                             Settlements& out);
  void begin(const Observation& packet, u32 width);
  Arrival observe_far(const Observation& packet, u32 width, const RequestContext& context,
                      Settlements& out);
  Arrival observe_earlier(const Observation& packet, u32 width, const RequestContext& context,
                          Settlements& out);
  bool rewinds(Psn psn) const;
  static void note_late(TroubleCounts& counts, i32 overtook, u64 time, u64 opened);
  Arrival late(Arrival arrival);
  bool precedes_run(const Observation& packet) const;
  Arrival overtaken_start(const Observation& packet, u32 width, Arrival arrival);
  bool late_within_run(const Observation& packet);

  enum class Fill : u8 { late, sent_again, open };

  Fill judge_fill(const Observation& packet, const Hole& hole, const RequestContext& context) const;
  Arrival observe_filling(const Observation& packet, u32 width, const Hole& hole,
                          const RequestContext& context, Arrival arrival, Settlements& out);
  void settle_pending_late(Settlements& out);
  void promote_pending(const RequestContext& context, Settlements& out);
  void restart(u64 time, u64 frame, Psn psn, u32 width, const RequestContext& context,
               Settlements& out);
  void judge(Episode& episode, Psn psn, u32 width, const RequestContext& context);

  // How many of the latest two answers covered `psn`, whenever they came.
  u32 answers_over(Psn psn) const {
    return acked_ ? u32{distance(psn, last_answer_) >= 0} + u32{distance(psn, answer_before_) >= 0}
                  : 0;
  }
  // Whether the responder answered `psn` or later since the last restart.
  bool had_answer_over(Psn psn) const { return answers_ > 0 && distance(psn, last_answer_) >= 0; }

  void decide_answered(Episode& episode, const RequestContext& context);
  void decide_named(Episode& episode);
  Arrival sent_again(const Observation& packet, u32 width, bool was_missing, Arrival arrival);
  void move_run(Episode& episode, Psn psn, u32 width);
  Arrival count_again(const Observation& packet, Arrival arrival);
  void leave_episode();

  static void decide(Episode& episode, Place place) {
    episode.result.place = place;
    episode.place_open = false;
  }

  void settle_episodes(u32 flow, Settlements& out, bool force = false);

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
  void close_holes(Psn una, u64 time);

  // One cache line, so that a stream in order needs no other.
  Psn next_, una_, first_;
  bool started_ = false;
  bool acked_ = false;
  u8 id_steps_ = 0;
  u8 stale_in_a_row_ = 0;
  u16 last_ip_id_ = 0;

 public:
  u16 path_mtu = 0;          // bytes; 0 unknown
  u32 most_outstanding = 0;  // PSNs
  u32 shortest_rtt = 0;      // request to response, nanoseconds, at most 4.29 s; 0 unknown
  Psn dirty_until;           // PSNs before it were sent twice: no latency samples
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

// The rest of the class, by what it is about.
#include "roce/flow/request_episodes.hpp"
#include "roce/flow/request_trouble.hpp"
