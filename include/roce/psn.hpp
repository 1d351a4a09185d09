// SPDX-License-Identifier: BSD-3-Clause
// Packet sequence numbers: 24 bits, wrapping. Plain < and - on them are wrong near the wrap, so
// this type has neither, and no conversion to or from an integer that happens unasked.

#pragma once

#include "roce/wire/bytes.hpp"

namespace roce {

class Psn {
 public:
  constexpr Psn() = default;
  /// The low 24 bits of `value`.
  constexpr explicit Psn(u32 value) : value_(value & kMask) {}

  /// In [0, 2^24).
  constexpr u32 value() const { return value_; }
  /// `n` steps on, over the wrap. Takes no signed integer: `psn + -1` is spelled `psn - 1u`.
  constexpr Psn operator+(u32 n) const { return Psn(value_ + n); }
  constexpr Psn operator-(u32 n) const { return Psn(value_ - n); }
  constexpr bool operator==(const Psn&) const = default;

 private:
  static constexpr u32 kMask = 0xff'ffff;
  u32 value_ = 0;
};

/// Steps from `from` to `to`, in [-2^23, 2^23). Positive: `to` comes later (IBTA 9.7.2).
constexpr i32 distance(Psn from, Psn to) {
  const u32 steps = (to.value() - from.value()) & 0xff'ffff;
  return static_cast<i32>(steps << 8) >> 8;  // sign-extends bit 23
}

static_assert(distance(Psn(0xff'ffff), Psn(0)) == 1);
static_assert(distance(Psn(0), Psn(0xff'ffff)) == -1);
static_assert(distance(Psn(5), Psn(0x80'0005)) == -0x80'0000);
static_assert(Psn(0) - 1u == Psn(0xff'ffff));

}  // namespace roce
