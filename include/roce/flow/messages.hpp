// SPDX-License-Identifier: BSD-3-Clause
// The messages of a request stream that wait for their answer: when they started and ended, and
// whether any of it was sent twice (then their times mean nothing, Karn's rule).

#pragma once

#include <memory>

#include "roce/psn.hpp"

namespace roce::flow {

enum class Verb : u8 { send, write, read, atomic, flush, atomic_write };
inline constexpr std::size_t kVerbCount = 6;

struct Message {
  Psn first;
  Psn end;             // after its last PSN, as far as is known
  u64 start_time = 0;  // of its first packet, nanoseconds
  u64 last_time = 0;   // of the latest packet
  u64 last_frame = 0;  // and its frame
  u32 bytes = 0;
  Verb verb = Verb::send;
  bool whole : 1 = false;       // its last packet was seen
  bool sized : 1 = false;       // `bytes` is the RETH's length; else the sum of payloads
  bool started : 1 = true;      // its first packet was seen
  bool sent_twice : 1 = false;  //
  bool answering : 1 = false;   // READ: responses have begun
};
static_assert(sizeof(Message) == 40);

/// A bounded queue in PSN order. When it is full, the oldest message is given up: it can no longer
/// be timed.
class Messages {
 public:
  static constexpr u32 kMost = 1024;

  void push(const Message& message) {
    if (size_ == room_ && !grow()) [[unlikely]]
      pop();
    slots_[(head_ + size_++) & (room_ - 1)] = message;
  }
  /// What was in front stays readable until the next push().
  void pop() {
    head_ = static_cast<u16>((head_ + 1) & (room_ - 1));
    size_--;
  }
  bool empty() const { return size_ == 0; }
  u32 size() const { return size_; }
  Message& operator[](u32 i) { return slots_[(head_ + i) & (room_ - 1)]; }
  Message& front() { return (*this)[0]; }
  Message& back() { return (*this)[size_ - 1u]; }
  void clear() { size_ = 0; }
  /// Hints for prefetching: where the message in front is, and where the next will be put.
  const Message* front_address() const { return slots_.get() + head_; }
  const Message* end_address() const { return slots_.get() + ((head_ + size_) & (room_ - 1)); }

  /// The message that holds `psn`, or null.
  Message* find(Psn psn) {
    // Nearly always it is the one in front.
    if (size_ == 0) return nullptr;
    if (distance(front().first, psn) >= 0 && (size_ == 1 || distance((*this)[1].first, psn) < 0))
      return distance(psn, front().end) > 0 ? &front() : nullptr;
    for (u32 i = size_; i-- > 0;) {
      Message& message = (*this)[i];
      if (distance(message.first, psn) >= 0)
        return distance(psn, message.end) > 0 ? &message : nullptr;
    }
    return nullptr;
  }

 private:
  [[gnu::noinline]] bool grow() {
    if (room_ == kMost) return false;
    const u32 room = room_ == 0 ? 4 : 2u * room_;
    auto larger = std::make_unique<Message[]>(room);
    for (u32 i = 0; i < size_; i++) larger[i] = (*this)[i];
    slots_ = std::move(larger);
    room_ = static_cast<u16>(room);
    head_ = 0;
    return true;
  }
  std::unique_ptr<Message[]> slots_;
  u16 room_ = 0;
  u16 head_ = 0;
  u16 size_ = 0;
};

}  // namespace roce::flow
