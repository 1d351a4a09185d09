// SPDX-License-Identifier: GPL-2.0-or-later
// The Info column: a summary of the packet in front of what upper layers say.

#pragma once

#include "analysis.hpp"
#include "line.hpp"

namespace dissector {

/// The summary of a packet. `record` may be null.
void summarize(const Sighted& sighted, const Analysis& file, const Record* record, Line& out);

/// Whether Wireshark's InfiniBand dissector has nothing to add to the Info column.
bool says_nothing_more(const Sighted& sighted);

/// Puts the summary into the Info column and keeps it there while other dissectors write. Unless
/// they are to be `quiet`, what they write comes behind a bar.
void begin_info(packet_info* pinfo, Line& summary, bool quiet);

/// After they are done: takes what Wireshark's InfiniBand dissector repeated out of the Info
/// column.
void end_info(packet_info* pinfo, Line& summary, bool quiet);

}  // namespace dissector
