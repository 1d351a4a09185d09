// SPDX-License-Identifier: BSD-3-Clause
// Blocks and options of the pcapng format (draft-ietf-opsawg-pcapng).

#pragma once

#include <algorithm>
#include <string>

#include "capture/endian.hpp"
#include "capture/info.hpp"

namespace rocetrace::pcapng {

enum BlockType : u32 {
  kInterface = 1,
  kPacket = 2,  // obsolete
  kSimplePacket = 3,
  kNameResolution = 4,
  kInterfaceStatistics = 5,
  kEnhancedPacket = 6,
  kDecryptionSecrets = 10,
  kLastSmallType = 12,  // there are none between this one and the custom blocks'
  kCustom = 0x00000bad,
  kCustomNotCopied = 0x40000bad,
  kSection = 0x0a0d0d0a,  // reads the same in both byte orders
};

inline constexpr u32 kByteOrderMagic = 0x1a2b3c4d;
inline constexpr std::size_t kFrameBytes = 12;  // type, length, and the length again at the end
inline constexpr u32 kMaxBlockBytes = 1 << 24;  // Wireshark's limit too

enum OptionCode : u16 {
  kEnd = 0,
  kComment = 1,
  kHardware = 2,  // of the section
  kOs = 3,
  kApplication = 4,
  kInterfaceName = 2,  // of an interface
  kInterfaceDescription = 3,
  kTimeResolution = 9,
  kFilter = 11,
  kFcsLength = 13,
  kTimeOffset = 14,
  kInterfaceHardware = 15,
  kDroppedByInterface = 5,  // of the statistics
  kDroppedByOs = 7,
  kDropCount = 4,  // of a packet
};

/// Calls `visit(code, value)` for each option; stops where one does not fit.
template <class Visit>
void for_each_option(Bytes options, bool swap, const Visit& visit) {
  while (options.size() >= 4) {
    const u16 code = load16(options.data(), swap);
    const std::size_t size = load16(options.data() + 2, swap);
    if (code == kEnd || size > options.size() - 4) return;
    visit(code, options.subspan(4, size));
    const std::size_t padded = 4 + (size + 3) / 4 * 4;
    if (padded > options.size()) return;
    options = options.subspan(padded);
  }
}

/// An option's text as it stands, as far as it is worth keeping.
inline std::string text(Bytes value) {
  value = value.first(std::min(value.size(), kMaxTextBytes));
  return {value.begin(), value.end()};
}

}  // namespace rocetrace::pcapng
