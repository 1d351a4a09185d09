// SPDX-License-Identifier: BSD-3-Clause
// What a request stream remembers once something went wrong in it: holes, runs, NAKs and recovery
// episodes. A stream without trouble has none of this.

#pragma once

#include <algorithm>

#include "roce/flow/verdict.hpp"
#include "roce/psn.hpp"

namespace roce::flow {

/// PSNs first .. first + count - 1.
struct PsnRange {
  Psn first;
  u32 count = 0;

  constexpr bool contains(Psn psn) const {
    const i32 at = distance(first, psn);
    return at >= 0 && static_cast<u32>(at) < count;
  }
  constexpr Psn end() const { return first + count; }
};

/// A missing range that has not been filled yet.
struct Hole : PsnRange {
  u64 opened = 0;  // time of the packet that skipped it, nanoseconds
  u64 opened_frame = 0;
  u16 opener_ip_id = 0;  // of the packet that skipped it
  bool has_ip_id = false;
  bool named_by_nak = false;  // a sequence NAK asked for it: the responder lacks it too
};

/// A short list of PSN ranges that never overlap. When it is full, `overflowed` says that the
/// oldest was given up.
template <class Range, std::size_t N>
class RangeList {
 public:
  void add(const Range& range) {
    if (size_ == N) {
      std::shift_left(ranges_.begin(), ranges_.end(), 1);
      size_--;
      overflowed_ = true;
    }
    ranges_[size_++] = range;
  }
  /// The range that holds `psn`, or null.
  Range* find(Psn psn) {
    for (std::size_t i = 0; i < size_; i++)
      if (ranges_[i].contains(psn)) return &ranges_[i];
    return nullptr;
  }
  /// Takes `count` PSNs from `psn` on out of the list; ranges are shortened or split.
  void remove(Psn psn, u32 count) {
    for (std::size_t i = 0; i < size_;) {
      Range& range = ranges_[i];
      const i32 begin = std::max(distance(range.first, psn), 0);
      const i32 end = std::min(distance(range.first, psn + count), static_cast<i32>(range.count));
      if (begin >= end) {
        i++;
        continue;
      }
      Range tail = range;
      tail.first = range.first + static_cast<u32>(end);
      tail.count = range.count - static_cast<u32>(end);
      range.count = static_cast<u32>(begin);
      if (range.count == 0) {
        if (tail.count != 0) {
          range = tail;
          i++;
        } else {
          erase(i);
        }
      } else {
        i++;
        if (tail.count != 0) add(tail);
      }
    }
  }
  /// Drops the ranges for which `gone(range)` holds.
  template <class Gone>
  void erase_if(Gone gone) {
    for (std::size_t i = 0; i < size_;)
      if (gone(ranges_[i]))
        erase(i);
      else
        i++;
  }
  void clear() { size_ = 0, overflowed_ = false; }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  bool overflowed() const { return overflowed_; }
  Range* begin() { return ranges_.data(); }
  Range* end() { return ranges_.data() + size_; }
  const Range* begin() const { return ranges_.data(); }
  const Range* end() const { return ranges_.data() + size_; }

 private:
  void erase(std::size_t i) {
    std::shift_left(ranges_.begin() + static_cast<std::ptrdiff_t>(i),
                    ranges_.begin() + static_cast<std::ptrdiff_t>(size_), 1);
    size_--;
  }

  std::array<Range, N> ranges_{};
  std::size_t size_ = 0;
  bool overflowed_ = false;
};

/// What the sender sent since its last restart, as the tap saw it.
struct Run {
  Psn first;
  Psn next;                        // after the latest
  RangeList<PsnRange, 8> skipped;  // between them, not seen in this run
  u64 start_time = 0;              // nanoseconds; of a restart
  bool resent = false;             // it is a restart, not the first transmission
  u16 first_ip_id = 0;             // of the packet that began it

  /// Whether the run passed over `psn`, seen or not.
  bool reached(Psn psn) const { return distance(first, psn) >= 0 && distance(psn, next) > 0; }
  bool saw(Psn psn) { return reached(psn) && skipped.find(psn) == nullptr; }
  void advance(Psn psn, u32 width) {
    const i32 skip = distance(next, psn);
    if (skip > 0) skipped.add({next, static_cast<u32>(skip)});
    next = psn + width;
  }
};

/// A NAK that asks for `psn`, as long as it can explain a restart.
struct NakMemory {
  Psn psn;
  u64 time = 0;
  u64 frame = 0;
  bool valid = false;
  u32 timer = 0;  // of an RNR NAK, nanoseconds
};

/// A recovery episode whose cause or place is still open.
struct Episode {
  SettledEpisode result;
  Psn restart;
  Psn sent_to;                   // after the furthest PSN sent again so far
  Psn old_end;                   // what had been sent before the restart
  bool seen_before = false;      // the run before it held the restart PSN
  u32 answers_over = 0;          // of the latest two answers, how many covered the restart PSN
  bool would_be_missed = false;  // had it been lost behind the tap, a NAK would have said so
  bool earlier_copy_answered = false;  // but nothing is known of the latest
  bool only_missing = true;            // nothing that was seen before came again
  bool cause_open = false;             // timeout or selective
  bool place_open = false;
  bool settled = false;
};

/// A packet that filled a hole and may be late or sent again: the next packets tell.
struct PendingFill {
  Psn psn;
  u32 width = 0;
  u64 frame = 0;
  u64 time = 0;
  u32 payload_size = 0;
  u64 opened = 0;    // time of the packet that skipped it, nanoseconds
  u32 overtook = 0;  // packets that had come before it
};

/// What a stream with trouble counts, in packets unless said otherwise.
struct TroubleCounts {
  u64 retransmissions = 0;
  u64 retransmitted_bytes = 0;  // payload
  u64 missing_psns = 0;         // at the moment their gaps opened
  u64 capture_missed_psns = 0;  // never seen here, yet answered by the responder
  u32 gaps = 0;
  u32 episodes = 0;
  u32 reordered = 0;
  u32 latest_psns = 0;  // by how many PSNs a reordered packet was overtaken, at most
  u64 latest_time = 0;  // and how long it came after the one that skipped it, nanoseconds
  u32 duplicate_captures = 0;
  u32 stale = 0;
  u64 duplicate_requests = 0;  // that a responder at the tap had already taken
  std::array<u64, kCauseCount> by_cause{};
  std::array<u64, kPlaceCount> by_place{};
  std::array<u32, kCauseCount> episodes_by_cause{};
  u32 episodes_not_ready = 0;  // of all: in them nothing was lost
};

struct Recovery {
  TroubleCounts counts;
  RangeList<Hole, 16> holes;
  Run run;
  NakMemory sequence_nak, rnr_nak;
  // A gap in the READ responses: the requester asks again without a NAK.
  NakMemory response_gap;
  std::array<Episode, 4> episodes{};
  std::size_t episode_count = 0;
  bool in_episode = false;  // the latest one still sends what was sent before
  std::array<PendingFill, 8> pending{};
  std::size_t pending_count = 0;
  bool restarted = false;  // by the latest packet
  Psn stale_next;
  u16 run_ip_id = 0;  // of the latest packet sent again
  u64 run_time = 0;   // and its time
  u64 capture_loss_time = 0;

  bool any_open() const {
    return std::any_of(episodes.begin(),
                       episodes.begin() + static_cast<std::ptrdiff_t>(episode_count),
                       [](const Episode& episode) { return episode.place_open; });
  }
};

}  // namespace roce::flow
