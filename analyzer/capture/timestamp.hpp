// SPDX-License-Identifier: BSD-3-Clause
// From a pcapng interface's ticks to nanoseconds since the epoch.
//
// Hostile files can ask for any resolution and offset; what cannot be told in 64 bits of
// nanoseconds becomes the nearest that can.

#pragma once

#include <algorithm>
#include <limits>

#include "capture/endian.hpp"

namespace rocetrace {

class Clock {
 public:
  /// A clock of microseconds, which is what an interface has unless it says otherwise.
  constexpr Clock() = default;

  /// `resolution` as in if_tsresol: a negative power of 10, or of 2 if the top bit is set.
  /// `offset_seconds` as in if_tsoffset: is added to every time.
  constexpr Clock(u8 resolution, i64 offset_seconds)
      : binary_((resolution & 0x80) != 0), exponent_(resolution & 0x7f) {
    offset_ = std::clamp(offset_seconds, -kMaxOffset, kMaxOffset) * kSecond;
    multiplier_ = 0;
    if (!binary_ && exponent_ <= 9) multiplier_ = power_of_10(9 - exponent_);
  }

  /// Nanoseconds since the epoch. 0 and the largest number stand for all that is beyond them.
  constexpr u64 nanoseconds(u64 ticks) const {
    u64 time = 0;
    if (multiplier_ == 0) [[unlikely]] {
      time = slow(ticks);
    } else if (__builtin_mul_overflow(ticks, multiplier_, &time)) [[unlikely]] {
      time = kMax;
    }
    return offset_ == 0 ? time : shifted(time);
  }

  /// Length of a tick in nanoseconds; 0 if it is shorter than one.
  constexpr u64 tick_ns() const {
    if (multiplier_ != 0) return multiplier_;
    return binary_ && exponent_ < 30 ? u64{kSecond} >> exponent_ : 0;
  }

 private:
  static constexpr i64 kSecond = 1000000000;
  static constexpr i64 kMaxOffset = std::numeric_limits<i64>::max() / kSecond;  // seconds
  static constexpr u64 kMax = std::numeric_limits<u64>::max();

  static constexpr u64 power_of_10(int exponent) {
    u64 power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
  }

  constexpr u64 slow(u64 ticks) const {
    if (!binary_) return exponent_ > 28 ? 0 : ticks / power_of_10(exponent_ - 9);
    const u64 seconds = exponent_ > 63 ? 0 : ticks >> exponent_;
    u64 fraction = exponent_ > 63 ? ticks : ticks & ((u64{1} << exponent_) - 1);
    // 2^34 seconds' fractions times 10^9 still fit; finer ones lose digits below a nanosecond.
    const int excess = std::max(0, exponent_ - 34);
    fraction = excess > 63 ? 0 : fraction >> excess;
    u64 time = 0;
    if (__builtin_mul_overflow(seconds, u64{kSecond}, &time)) return kMax;
    const u64 nanoseconds = (fraction * u64{kSecond}) >> std::min(exponent_, 34);
    return time > kMax - nanoseconds ? kMax : time + nanoseconds;
  }

  constexpr u64 shifted(u64 time) const {
    const u64 distance =
        offset_ < 0 ? u64{0} - static_cast<u64>(offset_) : static_cast<u64>(offset_);
    if (offset_ < 0) return time < distance ? 0 : time - distance;
    return time > kMax - distance ? kMax : time + distance;
  }

  u64 multiplier_ = 1000;  // nanoseconds per tick; 0 if they do not divide evenly
  i64 offset_ = 0;         // nanoseconds
  bool binary_ = false;
  int exponent_ = 6;
};

}  // namespace rocetrace
