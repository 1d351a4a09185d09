// SPDX-License-Identifier: BSD-3-Clause
// A distribution of durations: a log-linear histogram, fixed in size and mergeable.
//
// Each power of two is split into 32 equal buckets, so that a bucket's middle is within 1/64 (1.6
// %) of every value in it. Only the range of buckets between the least and the greatest value takes
// memory: at most 1,920 of them, and a few dozen as a rule.

#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "roce/wire/bytes.hpp"

namespace roce::flow {

/// What reports print of a distribution; durations in nanoseconds.
struct Quantiles {
  u64 count = 0;
  u64 min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0, mean = 0;
};

class Histogram {
 public:
  void add(u64 value) { add(value, bucket_of(value)); }
  /// The same for who knows `bucket`, bucket_of(value).
  void add(u64 value, std::size_t bucket) {
    if (count_ == 0 || value < min_) min_ = value;
    if (value > max_) max_ = value;
    count_++;
    sum_ += value;
    slot(bucket)++;
  }

  void merge(const Histogram& other) {
    if (other.count_ == 0) return;
    min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    count_ += other.count_;
    sum_ += other.sum_;
    for (std::size_t i = 0; i < other.counts_.size(); i++)
      if (other.counts_[i] != 0) slot(other.first_ + i) += other.counts_[i];
  }

  /// A hint for prefetching: where `bucket` is counted; null if there is no place for it yet.
  const void* address(std::size_t bucket) const {
    return bucket - first_ < counts_.size() ? &counts_[bucket - first_] : nullptr;
  }

  u64 count() const { return count_; }
  u64 min() const { return min_; }

  /// The smallest recorded value that at least `share` (0..1) of all values do not exceed, to
  /// within 1.6 %; exact at both ends. 0 when empty.
  u64 quantile(double share) const {
    if (count_ == 0) return 0;
    const auto wanted = static_cast<u64>(share * static_cast<double>(count_) + 0.9999999);
    const u64 rank = std::clamp<u64>(wanted, 1, count_);
    if (rank == count_) return max_;
    u64 seen = 0;
    for (std::size_t i = 0; i < counts_.size(); i++) {
      seen += counts_[i];
      if (seen >= rank) return std::clamp(middle_of(first_ + i), min_, max_);
    }
    return max_;
  }

  Quantiles quantiles() const {
    return {.count = count_,
            .min = min_,
            .p50 = quantile(0.5),
            .p90 = quantile(0.9),
            .p99 = quantile(0.99),
            .max = max_,
            .mean = count_ ? sum_ / count_ : 0};
  }

  static constexpr std::size_t bucket_of(u64 value) {
    if (value < kSteps) return value;
    const auto shift = static_cast<unsigned>(std::bit_width(value)) - 6;  // leaves 6 bits: 32..63
    return (shift + 1) * kSteps + ((value >> shift) - kSteps);
  }
  static constexpr u64 middle_of(std::size_t bucket) {
    if (bucket < kSteps) return bucket;
    const auto shift = bucket / kSteps - 1;
    const u64 low = (kSteps + bucket % kSteps) << shift;
    return low + ((u64{1} << shift) >> 1);
  }

 private:
  static constexpr std::size_t kSteps = 32;

  // Room for `bucket`, and for its octave, since more values will fall near it.
  u32& slot(std::size_t bucket) {
    if (bucket - first_ >= counts_.size()) [[unlikely]]
      widen(bucket);
    return counts_[bucket - first_];
  }
  [[gnu::noinline]] void widen(std::size_t bucket) {
    const std::size_t low = bucket / kSteps * kSteps;
    const std::size_t first = counts_.empty() ? low : std::min(first_, low);
    const std::size_t end = std::max(counts_.empty() ? 0 : first_ + counts_.size(), low + kSteps);
    std::vector<u32> wider(end - first);
    std::ranges::copy(counts_, wider.begin() + static_cast<std::ptrdiff_t>(first_ - first));
    counts_ = std::move(wider);
    first_ = first;
  }

  u64 count_ = 0, sum_ = 0, min_ = 0, max_ = 0;
  std::size_t first_ = 0;  // bucket of counts_[0]
  std::vector<u32> counts_;
};

static_assert(Histogram::bucket_of(31) == 31 && Histogram::bucket_of(32) == 32);
static_assert(Histogram::bucket_of(~u64{0}) < std::size_t{60} * 32);
static_assert(Histogram::middle_of(Histogram::bucket_of(1'000'000)) * 64 > u64{63} * 1'000'000);
static_assert(Histogram::middle_of(Histogram::bucket_of(1'000'000)) * 64 < u64{65} * 1'000'000);

}  // namespace roce::flow
