// SPDX-License-Identifier: GPL-2.0-or-later
// Answers come in order, so what leaves the list leaves at its front.

#include "waiting.hpp"

#include <algorithm>

namespace dissector {

using roce::Psn;

namespace {

// An unanswered packet beyond this many is given up: the answers are not in the capture.
constexpr std::size_t kMostWaiting = 1 << 14;
// So many answered packets are found again: more than requesters keep in flight, and some 10 kB.
constexpr std::size_t kRemembered = 256;

}  // namespace

void WaitingList::clear() {
  entries_.clear();
  head_ = 0;
  bytes_ = 0;
}

/// Of the first entry whose PSN is not before `psn`.
std::size_t WaitingList::position(Psn psn) const {
  const auto at = std::lower_bound(
      entries_.begin() + static_cast<std::ptrdiff_t>(head_), entries_.end(), psn,
      [](const Waiting& entry, Psn wanted) { return roce::distance(entry.psn, wanted) > 0; });
  return static_cast<std::size_t>(at - entries_.begin());
}

const Waiting* WaitingList::first_from(Psn psn) const {
  const std::size_t at = position(psn);
  return at < entries_.size() ? &entries_[at] : nullptr;
}

Waiting* WaitingList::find_sent(Psn psn) {
  // Those that wait are in order and do not overlap, so it is the last that begins there or before.
  const std::size_t behind = position(psn + 1u);
  if (behind > head_ && entries_[behind - 1].holds(psn)) return &entries_[behind - 1];
  // The answered ones may be out of order: each resend is answered once more.
  for (std::size_t at = head_; at > 0 && head_ - at < kRemembered; at--) {
    if (entries_[at - 1].holds(psn)) return &entries_[at - 1];
  }
  return nullptr;
}

const Waiting* WaitingList::last_before(Psn psn) const {
  const std::size_t at = position(psn);
  return at > head_ ? &entries_[at - 1] : nullptr;
}

void WaitingList::put(const Waiting& entry) {
  const std::size_t at = position(entry.psn);
  if (at < entries_.size() && entries_[at].psn == entry.psn) {
    bytes_ -= entries_[at].payload;
    entries_[at] = entry;
  } else {
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at), entry);
  }
  bytes_ += entry.payload;
  if (packets() > kMostWaiting) {
    bytes_ -= entries_[head_].payload;
    head_++;
    drop_passed();
  }
}

/// Once those that nobody asks for are most of the list, so that each entry is moved a few times at
/// most.
void WaitingList::drop_passed() {
  if (head_ <= kRemembered || 2 * (head_ - kRemembered) <= entries_.size()) return;
  const std::size_t dropped = head_ - kRemembered;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(dropped));
  head_ = kRemembered;
}

WaitingList::Answered WaitingList::answer_before(Psn psn, uint32_t frame) {
  Answered out;
  const std::size_t end = position(psn);
  for (; head_ < end; head_++) {
    const Waiting& entry = entries_[head_];
    entry.record->answer = frame;
    out.any_sent_twice = out.any_sent_twice || entry.sent_twice;
    if (entry.sent_twice && (entry.record->flags & kHasMessage)) {
      out.resent_message = entry.record->message;
    }
    bytes_ -= entry.payload;
  }
  drop_passed();
  return out;
}

}  // namespace dissector
