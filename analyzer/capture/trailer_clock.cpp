// SPDX-License-Identifier: BSD-3-Clause
#include "capture/trailer_clock.hpp"

#include <algorithm>

namespace rocetrace {

using roce::i64;
using roce::u64;
using roce::net::TrailerKind;

namespace {

constexpr roce::u16 kEthernet = 1;
constexpr i64 kSecond = 1'000'000'000;
constexpr i64 kMonth = i64{30} * 86'400 * kSecond;

roce::Bytes trailer_of(const Frame& frame) {
  const bool whole = frame.bytes.size() >= frame.wire_size;
  return whole && frame.link_type == kEthernet ? roce::net::trailer_of(frame.bytes) : roce::Bytes{};
}

// Both clocks count from 1970, so the difference fits.
i64 difference(u64 a, u64 b) {
  return static_cast<i64>(a) - static_cast<i64>(b);
}

}  // namespace

void TrailerClock::recognise(const FrameBatch& batch) {
  for (const TrailerKind kind :
       {TrailerKind::ixia, TrailerKind::metamako, TrailerKind::exablaze, TrailerKind::vss}) {
    std::size_t with_trailer = 0, fitting = 0;
    i64 least = kMonth, most = -kMonth;
    for (const Frame& frame : batch) {
      const roce::Bytes trailer = trailer_of(frame);
      if (trailer.size() < 8) continue;
      with_trailer++;
      const auto time = roce::net::trailer_time(kind, trailer);
      const i64 ahead = time ? difference(*time, frame.time) : kMonth;
      if (ahead <= -kMonth || ahead >= kMonth) continue;
      fitting++;
      least = std::min(least, ahead);
      most = std::max(most, ahead);
    }
    // Small packets may be padded instead, but few.
    if (fitting < kLeast || 10 * fitting < 9 * with_trailer || most - least >= kSecond) continue;
    kind_ = kind;
    return;
  }
}

void TrailerClock::apply(FrameBatch& batch, CaptureInfo& info) {
  if (!decided_) {
    decided_ = true;
    recognise(batch);
    if (!kind_) return;
    info.time_source = roce::net::kTrailerNames[static_cast<std::size_t>(*kind_)];
  }
  if (!kind_) return;
  for (Frame& frame : batch) {
    const auto time = roce::net::trailer_time(*kind_, trailer_of(frame));
    const i64 ahead = time ? difference(*time, frame.time) : ahead_;
    if (ahead > -kMonth && ahead < kMonth) ahead_ = ahead;
    frame.time += static_cast<u64>(ahead_);
    note(frame.time);
  }
  info.first_time = told_.first_time;
  info.last_time = told_.last_time;
  info.time_offset_ns = told_.time_offset_ns;
  info.equal_times = told_.equal_times;
  info.backward_times = told_.backward_times;
  info.largest_backward_ns = told_.largest_backward_ns;
}

void TrailerClock::note(u64 time) {
  if (!told_.first_time) {
    told_.first_time = told_.last_time = time;
    told_.time_offset_ns = ahead_;
  } else if (time == previous_) {
    told_.equal_times++;
  } else if (time < previous_) {
    told_.backward_times++;
    told_.largest_backward_ns = std::max(told_.largest_backward_ns, previous_ - time);
  }
  told_.first_time = std::min(*told_.first_time, time);
  told_.last_time = std::max(*told_.last_time, time);
  previous_ = time;
}

}  // namespace rocetrace
