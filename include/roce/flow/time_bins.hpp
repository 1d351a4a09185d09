// SPDX-License-Identifier: BSD-3-Clause
// How a half-flow went over time: counts per bin, in bins that double, so that memory is bounded.
//
// Counters only grow, so nothing is counted here: when a packet falls into another bin than the one
// before it, the counters' values are noted.

#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "roce/wire/bytes.hpp"

namespace roce::flow {

/// Counters of a half-flow at the end of a bin, from the start of the trace.
struct BinTotals {
  u64 wire_bytes = 0;
  u64 payload_bytes = 0;
  u32 packets = 0;
  u32 retransmissions = 0;
  u32 ce = 0;
  u32 cnps = 0;
};

/// The width of all bins of a trace: a power of two nanoseconds, that doubles when the trace would
/// need more than kMostBins.
class BinClock {
 public:
  static constexpr u32 kMostBins = 128;

  /// Whether `time` lies in the bin that goes on.
  bool is_now(u64 time) const { return time - begin_ < length_; }
  /// Whether `time` lies in an earlier one.
  bool is_past(u64 time) const { return length_ != 0 && time < begin_; }

  /// Takes the time of a packet that lies in no bin so far: bins go on to its own. The first one
  /// starts the clock.
  void advance(u64 time) {
    if (length_ == 0) start_ = time;
    while (time > start_ && (time - start_) >> shift_ >= kMostBins) shift_++;
    length_ = width();
    begin_ = start_ + (u64{bin(time)} << shift_);
  }
  u32 bin(u64 time) const {
    return time > start_ ? static_cast<u32>((time - start_) >> shift_) : 0;
  }
  unsigned shift() const { return shift_; }
  u64 width() const { return u64{1} << shift_; }
  u64 start() const { return start_; }

 private:
  u64 start_ = 0;
  u64 begin_ = 0;        // of the bin that goes on,
  u64 length_ = 0;       // and its width; 0 before the first packet
  unsigned shift_ = 20;  // 1.05 ms
};

class TimeBins {
 public:
  struct Bin {
    u32 number = 0;  // of the clock's bins
    BinTotals totals;
  };

  /// The counters stood at `totals` when bin `number` ended.
  void note(u32 number, const BinTotals& totals, unsigned shift) {
    if (shift != shift_) widen(shift);
    if (size_ > 0 && bins_[size_ - 1u].number >= number) {
      bins_[size_ - 1u].totals = totals;
      return;
    }
    if (size_ == room_) grow();
    bins_[size_++] = {number, totals};
  }

  /// A hint for prefetching: where the next bin will be noted.
  const Bin* next_address() const { return bins_.get() + size_; }

  /// Bins in order; those in which nothing happened are left out. At the width of the clock once
  /// widen() was called with its shift.
  std::span<const Bin> all() const { return {bins_.get(), size_}; }

  /// Joins bins until each is 2^shift nanoseconds wide.
  void widen(unsigned shift) {
    if (size_ == 0 || shift <= shift_) {
      shift_ = static_cast<u8>(std::max<unsigned>(shift_, shift));
      return;
    }
    const unsigned by = shift - shift_;
    shift_ = static_cast<u8>(shift);
    u16 kept = 0;
    for (u16 i = 0; i < size_; i++) {
      const u32 number = by < 32 ? bins_[i].number >> by : 0;
      if (kept > 0 && bins_[kept - 1u].number == number) kept--;
      bins_[kept++] = {number, bins_[i].totals};
    }
    size_ = kept;
  }

 private:
  void grow() {
    room_ = static_cast<u16>(std::max(8, 2 * room_));
    auto larger = std::make_unique<Bin[]>(room_);
    std::copy_n(bins_.get(), size_, larger.get());
    bins_ = std::move(larger);
  }

  std::unique_ptr<Bin[]> bins_;
  u16 size_ = 0;
  u16 room_ = 0;
  u8 shift_ = 0;
};

}  // namespace roce::flow
