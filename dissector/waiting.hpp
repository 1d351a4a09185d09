// SPDX-License-Identifier: GPL-2.0-or-later
// The request packets of one half-flow that nobody has answered yet, and the last ones that
// somebody did: where an answer was lost, those are sent again.

#pragma once

#include <span>
#include <vector>

#include "record.hpp"
#include "roce/psn.hpp"

namespace dissector {

constexpr uint32_t kNoMessage = ~uint32_t{0};

/// A request packet that has no answer yet. Times are nanoseconds.
struct Waiting {
  roce::Psn psn;
  uint32_t width = 1;  // PSNs; of a READ as many as its responses take
  bool read = false;
  bool ends = false;
  bool sent_twice = false;
  uint32_t payload = 0;
  uint64_t time = 0;
  uint64_t message_time = 0;  // of the first packet of its message; 0 unknown
  Record* record = nullptr;   // never null in a list

  bool holds(roce::Psn other) const {
    const int32_t at = roce::distance(psn, other);
    return at >= 0 && static_cast<uint32_t>(at) < width;
  }
};

/// In PSN order. Pointers to entries are valid until the list changes.
class WaitingList {
 public:
  void clear();
  uint32_t packets() const { return static_cast<uint32_t>(entries_.size() - head_); }
  uint32_t bytes() const { return bytes_; }

  /// The latest packet that asked for this PSN, also one that was answered some packets ago, or
  /// null. Of a READ any of its PSNs will do.
  Waiting* find_sent(roce::Psn psn);
  /// The last packet whose PSN is before this one, or null.
  const Waiting* last_before(roce::Psn psn) const;
  /// The first packet whose PSN is not before this one, or null.
  const Waiting* first_from(roce::Psn psn) const;

  /// Takes the place of the packet with the same PSN, if there is one.
  void put(const Waiting& entry);

  struct Answered {
    bool any_sent_twice = false;
    uint32_t resent_message = kNoMessage;  // the last message of which anything was sent twice
  };
  /// Everything whose PSN is before this one is answered by `frame`, and leaves the list.
  Answered answer_before(roce::Psn psn, uint32_t frame);

 private:
  std::size_t position(roce::Psn psn) const;
  void drop_passed();

  std::vector<Waiting> entries_;  // those before `head_` have left
  std::size_t head_ = 0;
  uint32_t bytes_ = 0;
};

}  // namespace dissector
