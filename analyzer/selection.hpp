// SPDX-License-Identifier: BSD-3-Clause
// The frames of the captures that the user asked for: those in a span of time, of a VLAN, that a
// pcap filter lets pass.

#pragma once

#include <optional>
#include <vector>

#include "capture/frame_filter.hpp"
#include "capture/trace.hpp"
#include "options.hpp"

namespace rocetrace {

/// A Trace without the frames that were not asked for.
class SelectedTrace {
 public:
  /// Throws std::runtime_error for captures that cannot be read, and for a filter that is none.
  explicit SelectedTrace(const Options& options);

  /// As Trace::next(); frames keep the numbers that they have in the whole trace. The batch may be
  /// empty though there is more to come.
  bool next(FrameBatch& batch) {
    const bool more = trace_.next(batch);
    if (is_selective_ && more) select(batch);
    return more;
  }

  /// The captures, and what is known of each of them as a whole.
  std::size_t size() const { return trace_.size(); }
  const CaptureInfo& info(std::size_t capture) const { return trace_.info(capture); }
  /// Of all captures together, in bytes as stored; see CaptureInfo.
  roce::u64 bytes_read() const;
  roce::u64 total_size() const;
  /// Frames of a capture that were not asked for; nothing if all were.
  std::optional<roce::u64> left_out(std::size_t capture) const {
    return is_selective_ ? std::optional(left_out_[capture]) : std::nullopt;
  }

 private:
  void select(FrameBatch& batch);
  bool is_wanted(const Frame& frame);
  bool is_in_vlan(const Frame& frame) const;

  Trace trace_;
  bool is_selective_ = false;
  std::optional<Instant> from_, to_;
  std::vector<roce::u32> vlans_;
  std::optional<FrameFilter> filter_;
  std::optional<roce::u64> begin_;  // time of the first frame
  std::vector<roce::u64> left_out_;
};

}  // namespace rocetrace
