// SPDX-License-Identifier: BSD-3-Clause
// One captured record, as a view into the capture's own memory.

#pragma once

#include <cstddef>
#include <vector>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

/// What one record of a capture file holds. `bytes` stay valid until the next batch is read.
struct Frame {
  roce::u64 number = 0;     // from 1, in the order of the trace
  roce::u64 time = 0;       // nanoseconds since the epoch, as stored (UTC)
  roce::Bytes bytes;        // as captured
  roce::u32 wire_size = 0;  // bytes the frame had before the capture cut it; >= bytes.size()
  roce::u16 link_type = 0;  // LINKTYPE_ number of its interface
  roce::u16 capture = 0;    // index of the capture file it comes from
  roce::u32 interface = 0;  // index of its interface in that file
};

inline constexpr std::size_t kBatchFrames = 256;

/// Frames read together. Reused from one read to the next, so that reading allocates nothing.
using FrameBatch = std::vector<Frame>;

}  // namespace rocetrace
