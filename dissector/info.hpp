// SPDX-License-Identifier: GPL-2.0-or-later
// The Info column: a summary of the packet in front of what upper layers say.

#pragma once

#include "analysis.hpp"

namespace dissector {

/// Puts the summary into the Info column, and keeps it there while other dissectors write.
/// `record` may be null.
void write_summary(packet_info* pinfo, const Sighted& sighted, const Analysis& file,
                   const Record* record);

/// Whether Wireshark's InfiniBand dissector has nothing to add to the Info column.
bool says_nothing_more(const Sighted& sighted);

/// Takes what Wireshark's InfiniBand dissector repeated out of the Info column, behind the first
/// `ours` bytes.
void drop_repetition(packet_info* pinfo, std::size_t ours);

}  // namespace dissector
