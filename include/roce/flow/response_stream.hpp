// SPDX-License-Identifier: BSD-3-Clause
// The responses that one half-flow carries, numbered in the peer's request sequence.
//
// ACKs coalesce and so never have gaps. READ and atomic responses do not: each PSN of a READ's
// range comes once, so what the tap did not see of it was missed or lost.

#pragma once

#include <memory>

#include "roce/flow/recovery.hpp"
#include "roce/flow/traits.hpp"
#include "roce/syndrome.hpp"

namespace roce::flow {

struct ResponseCounts {
  u64 packets = 0;  // duplicate captures left out
  u64 acks = 0;
  u64 read_responses = 0;
  u64 retransmissions = 0;  // READ and atomic responses whose PSN was answered before
};

/// What the tap did not see of READ and atomic responses.
struct ResponseGaps {
  RangeList<PsnRange, 8> holes;
  u32 gaps = 0;
  u32 reordered = 0;
  u64 missing_psns = 0;
  Psn latest;  // first PSN of the latest gap
};

class ResponseStream {
 public:
  /// Takes one READ or atomic response. `reads` are the peer's messages that wait for an answer, or
  /// null when the peer is not known.
  /// `asked_again` says that a request for its PSN was sent twice.
  Arrival observe(const Observation& packet, OpcodeTraits traits, Messages* reads,
                  bool asked_again) {
    Arrival arrival{.stream = StreamKind::response};
    const Psn psn(packet.psn);
    if (!started_ && reads) expect_first_of(*reads);
    if (started_) {
      const i32 ahead = distance(next_, psn);
      if (ahead < 0) {
        observe_earlier(psn, asked_again, arrival);
        return arrival;
      }
      if (ahead > 0 && ahead <= kFar) arrival.missing = note_missing(psn, reads);
    }
    started_ = true;
    next_ = psn + 1u;
    in_read_ = traits.is(kReadResponse) && !traits.is(kEnds);
    return arrival;
  }

  void forget() {
    started_ = in_read_ = false;
    if (gaps_) gaps_->holes.clear();
  }

  /// After the latest READ or atomic response; meaningful when started().
  Psn next() const { return next_; }
  bool started() const { return started_; }
  ResponseCounts& counts() { return counts_; }
  const ResponseCounts& counts() const { return counts_; }
  /// Null while there were none.
  const ResponseGaps* gaps() const { return gaps_.get(); }
  /// Whether any response came at all.
  bool any() const { return counts_.packets > 0; }

  Psn last_psn;  // of the latest response

 private:
  static constexpr i32 kFar = 1 << 22;

  void observe_earlier(Psn psn, bool asked_again, Arrival& arrival) {
    const bool missing = gaps_ && gaps_->holes.find(psn) != nullptr;
    if (missing) gaps_->holes.remove(psn, 1);
    if (missing && !asked_again) {
      gaps_->reordered++;
      return;
    }
    counts_.retransmissions++;
    arrival.repeated_response = true;
  }

  // A READ that was asked at the tap shall be answered there from its beginning on.
  void expect_first_of(Messages& reads) {
    for (u32 i = 0; i < reads.size() && !started_; i++) {
      if (reads[i].verb != Verb::read && reads[i].verb != Verb::atomic) continue;
      started_ = true;
      next_ = reads[i].first;
    }
  }

  u32 note_missing(Psn psn, Messages* reads) {
    u32 missing = 0;
    if (reads) {
      for (u32 i = 0; i < reads->size(); i++) {
        const Message& message = (*reads)[i];
        if (message.verb != Verb::read && message.verb != Verb::atomic) continue;
        const i32 begin = std::max(distance(next_, message.first), 0);
        const i32 end = std::min(distance(next_, message.end), distance(next_, psn));
        if (begin >= end) continue;
        const Psn first = next_ + static_cast<u32>(begin);
        const bool latest = missing == 0;
        missing += add_hole(first, end - begin);
        if (latest) gaps_->latest = first;
      }
    } else if (in_read_) {
      missing = add_hole(next_, distance(next_, psn));
      gaps_->latest = next_;
    }
    if (missing > 0) {
      gaps_->gaps++;
      gaps_->missing_psns += missing;
    }
    return missing;
  }

  u32 add_hole(Psn first, i32 count) {
    if (!gaps_) gaps_ = std::make_unique<ResponseGaps>();
    gaps_->holes.add({first, static_cast<u32>(count)});
    return static_cast<u32>(count);
  }

  Psn next_;
  bool started_ = false;
  bool in_read_ = false;
  std::unique_ptr<ResponseGaps> gaps_;
  ResponseCounts counts_;
};

}  // namespace roce::flow
