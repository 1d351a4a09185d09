// SPDX-License-Identifier: BSD-3-Clause
// The messages of a request stream that wait for their answer: from which packet and when they
// started, and whether any of it was sent twice (then their times mean nothing, Karn's rule).

#pragma once

#include <vector>

#include "roce/psn.hpp"

namespace roce::flow {

enum class Verb : u8 { send, write, read, atomic, flush, atomic_write };
inline constexpr std::size_t kVerbCount = 6;

struct Message {
  Psn first;
  Psn end;             // after its last PSN, as far as is known
  u64 start_time = 0;  // of its first packet, nanoseconds
  u64 start_frame = 0;
  u64 first_response = 0;  // READ: time of the first response; 0 none yet
  u32 bytes = 0;
  Verb verb = Verb::send;
  bool whole = false;   // its last packet was seen
  bool sized = false;   // `bytes` is the RETH's length; else the sum of payloads
  bool started = true;  // its first packet was seen
  bool sent_twice = false;
};

/// A bounded queue in PSN order. When it is full, the oldest message is given up: it can no longer
/// be timed.
class Messages {
 public:
  static constexpr std::size_t kMost = 1024;

  void push(const Message& message) {
    if (size_ == slots_.size() && !grow()) pop();
    slots_[(head_ + size_++) & (slots_.size() - 1)] = message;
  }
  void pop() {
    head_ = (head_ + 1) & (slots_.size() - 1);
    size_--;
  }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  Message& operator[](std::size_t i) { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  Message& front() { return (*this)[0]; }
  Message& back() { return (*this)[size_ - 1]; }
  void clear() { size_ = 0; }

  /// The message that holds `psn`, or null.
  Message* find(Psn psn) {
    for (std::size_t i = size_; i-- > 0;) {
      Message& message = (*this)[i];
      if (distance(message.first, psn) >= 0)
        return distance(psn, message.end) > 0 ? &message : nullptr;
    }
    return nullptr;
  }

 private:
  bool grow() {
    if (slots_.size() == kMost) return false;
    std::vector<Message> larger(slots_.empty() ? 4 : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; i++) larger[i] = (*this)[i];
    slots_ = std::move(larger);
    head_ = 0;
    return true;
  }
  std::vector<Message> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace roce::flow
