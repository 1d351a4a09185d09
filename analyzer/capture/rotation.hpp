// SPDX-License-Identifier: BSD-3-Clause
// Files that one capture wrote one after the other, and where their times contradict their names.
//
// The names are all there is to tell that files belong together: dumpcap, tcpdump and editcap
// number them. Two taps that recorded at the same time have names of their own, and are none of
// this.

#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "capture/info.hpp"

namespace rocetrace {

/// What is odd between a file and the one in front of it, by the numbers in their names.
struct RotationFault {
  std::size_t capture = 0;   // index of the file
  std::size_t in_front = 0;  // and of the other
  roce::u64 overlap_ns = 0;  // it begins so long before the other ended
  roce::u64 hole_ns = 0;     // or so long after that, far longer than anything else of the ring
  roce::u64 missing = 0;     // files between the two that were not given
  bool certain = true;  // such names are given by programs that rotate files, and to nothing else
};

/// The faults of all rings among `captures`, in their order. At the place where two files meet a
/// few packets may be out of order: kMeeting is no overlap. Of files without packets nothing is
/// said.
std::vector<RotationFault> rotation_faults(std::span<const CaptureInfo* const> captures);

/// How far times of two files that follow each other may overlap, nanoseconds: longer than dumpcap
/// waits for the packets of one interface while it writes those of another.
inline constexpr roce::u64 kMeeting = 300'000'000;

}  // namespace rocetrace
