// SPDX-License-Identifier: BSD-3-Clause
// The sequence numbers that ERSPAN and GRE give mirrored frames: what is missing of them got lost
// between the mirror and the capture, and the hosts may well have exchanged it.

#pragma once

#include <bitset>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "capture/frame.hpp"

namespace rocetrace {

/// Counts what is missing of one row of numbers that grow by one and wrap at 2^32.
class SequenceGaps {
 public:
  void note(roce::u32 number);

  /// Numbers that were left out and did not come late. Nothing where that cannot be told: of a
  /// handful; where numbers stand still, come twice or jump, as those of several counters do; and
  /// where more are missing than there are, as behind a filter.
  std::optional<roce::u64> missing() const;
  roce::u64 packets() const { return packets_; }

 private:
  static constexpr roce::u32 kWindow = 4096;       // how late a packet may come, in numbers
  static constexpr roce::u32 kLongest = 1u << 20;  // what jumps further has begun anew

  void begin_at(roce::u32 number);

  roce::u64 packets_ = 0, missing_ = 0;
  roce::u64 odd_ = 0;  // jumps, and numbers that came before
  roce::u32 highest_ = 0;
  std::bitset<kWindow> seen_;  // of the numbers up to `highest_`, by their lowest bits
};

class MirrorSequences {
 public:
  /// Given all frames of the trace that are wrapped in something, in order.
  void note(const Frame& frame);

  /// Of capture `index`, all its mirrors together; nothing if none of them told.
  std::optional<roce::u64> missing(std::size_t index) const;

 private:
  static constexpr std::size_t kMost = 1024;  // mirrors

  struct Mirror {  // all of one sender to one receiver, as some count over all their sessions
    SequenceGaps together;
    std::map<roce::u64, SequenceGaps> sessions;  // by type, session and GRE key
  };
  using Ends = std::vector<roce::u8>;  // addresses of the tunnel, as in its header
  std::optional<roce::u64> missing(const Mirror& mirror) const;

  std::map<std::pair<roce::u16, Ends>, Mirror> mirrors_;  // by capture
  std::size_t sessions_ = 0;
};

}  // namespace rocetrace
