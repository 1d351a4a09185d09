// SPDX-License-Identifier: BSD-3-Clause
// MAC control frames that stop a sender: global pause (IEEE 802.3, annex 31B) and priority-based
// flow control (IEEE 802.1Qbb, annex 31D). EtherType 0x8808, to 01:80:C2:00:00:01.

#pragma once

#include "roce/wire/bytes.hpp"
#include "roce/wire/fields.hpp"

namespace roce {

inline constexpr u16 kMacControlEtherType = 0x8808;
inline constexpr u16 kPauseOpcode = 0x0001;
inline constexpr u16 kPfcOpcode = 0x0101;
inline constexpr u32 kPauseQuantumBits = 512;  // what a pause time counts, in bit times

/// What follows the EtherType of a global pause.
struct Pause {
  be16 opcode;
  be16 time;  // quanta; 0: go on
};
static_assert(WireHeader<Pause> && sizeof(Pause) == 4);

// clang-format off
inline constexpr Field kPauseFields[] = {
    {"opcode", "Opcode",     16, Show::hex},
    {"time",   "Pause Time", 16, Show::decimal},
};
// clang-format on
static_assert(total_bits(kPauseFields) == 8 * sizeof(Pause));

/// What follows the EtherType of a PFC frame.
struct Pfc {
  be16 opcode;
  be16 enabled;              // bit n: `time[n]` is meant
  std::array<be16, 8> time;  // by priority, quanta; 0: go on

  constexpr bool has(unsigned priority) const { return enabled >> priority & 1; }
};
static_assert(WireHeader<Pfc> && sizeof(Pfc) == 20);

// clang-format off
inline constexpr Field kPfcFields[] = {
    {"opcode", "Opcode",              16, Show::hex},
    {"enable", "Class Enable Vector", 16, Show::hex},
    {"time0",  "Time, Priority 0",    16, Show::decimal},
    {"time1",  "Time, Priority 1",    16, Show::decimal},
    {"time2",  "Time, Priority 2",    16, Show::decimal},
    {"time3",  "Time, Priority 3",    16, Show::decimal},
    {"time4",  "Time, Priority 4",    16, Show::decimal},
    {"time5",  "Time, Priority 5",    16, Show::decimal},
    {"time6",  "Time, Priority 6",    16, Show::decimal},
    {"time7",  "Time, Priority 7",    16, Show::decimal},
};
// clang-format on
static_assert(total_bits(kPfcFields) == 8 * sizeof(Pfc));

}  // namespace roce
