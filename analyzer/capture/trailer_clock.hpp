// SPDX-License-Identifier: BSD-3-Clause
// Takes the times of frames from the trailers that a tap or switch gave them, where it is certain
// that these are timestamps: they tell when a frame passed, the capture's own when it was written.

#pragma once

#include <optional>

#include "capture/frame.hpp"
#include "capture/info.hpp"
#include "roce/net/trailer.hpp"

namespace rocetrace {

class TrailerClock {
 public:
  /// Takes the next frames of a capture, in order, and puts the trailers' times into them. Frames
  /// without one are moved by as much as the one before them. What this changes of `info` (times,
  /// and where they are from) is changed there.
  ///
  /// The first batch decides: kLeast frames or more with trailers, nearly all of one kind, and all
  /// as far from the capture's clock, to a second.
  void apply(FrameBatch& batch, CaptureInfo& info);

  static constexpr std::size_t kLeast = 16;  // frames

 private:
  void recognise(const FrameBatch& batch);
  void note(roce::u64 time);

  std::optional<roce::net::TrailerKind> kind_;
  bool decided_ = false;
  roce::i64 ahead_ = 0;  // of the capture's clock, nanoseconds
  roce::u64 previous_ = 0;
  CaptureInfo told_;  // times as the trailers tell them
};

}  // namespace rocetrace
