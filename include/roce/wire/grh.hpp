// SPDX-License-Identifier: BSD-3-Clause
// Global Route Header: the network header of RoCEv1, laid out as IPv6 (IBTA 8.3, annex A16).

#pragma once

#include "roce/wire/bytes.hpp"
#include "roce/wire/fields.hpp"

namespace roce {

/// NxtHdr value that says a BTH follows.
inline constexpr u8 kGrhNextIba = 0x1b;

struct Grh {
  be32 word;            // IPVer:4 TClass:8 FlowLabel:20
  be16 payload_length;  // bytes from the BTH through the ICRC
  u8 next_header;
  u8 hop_limit;
  std::array<u8, 16> source, destination;  // GIDs

  constexpr u8 version() const { return static_cast<u8>(word >> 28); }
  constexpr u8 traffic_class() const { return static_cast<u8>(word >> 20); }
  constexpr u32 flow_label() const { return word & 0xf'ffff; }
};
static_assert(WireHeader<Grh> && sizeof(Grh) == 40);

// clang-format off
inline constexpr Field kGrhFields[] = {
    {"ipver",   "IP Version",        4, Show::decimal},
    {"tclass",  "Traffic Class",     8, Show::hex},
    {"flow",    "Flow Label",       20, Show::hex},
    {"paylen",  "Payload Length",   16, Show::decimal},
    {"nxthdr",  "Next Header",       8, Show::hex},
    {"hoplmt",  "Hop Limit",         8, Show::decimal},
    {"sgid",    "Source GID",      128, Show::ipv6},
    {"dgid",    "Destination GID", 128, Show::ipv6},
};
// clang-format on
static_assert(total_bits(kGrhFields) == 8 * sizeof(Grh));

}  // namespace roce
