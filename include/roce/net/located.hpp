// SPDX-License-Identifier: BSD-3-Clause
// Where a RoCE packet lies in its frame.

#pragma once

#include "roce/wire/bytes.hpp"

namespace roce::net {

/// Offsets from the start of the frame, and sizes, in bytes.
struct Located {
  u32 network_offset = 0;  // of the IP header or GRH; of the LRH in native InfiniBand
  u32 bth_offset = 0;
  u32 bth_size = 0;       // from the BTH through the ICRC, on the wire
  u8 version = 2;         // of RoCE; 0 for native InfiniBand
  bool has_icrc = false;  // captured, and with it the whole packet

  constexpr bool operator==(const Located&) const = default;
};

}  // namespace roce::net
