// SPDX-License-Identifier: GPL-2.0-or-later
// Everything under Wireshark's menus Statistics and Analyze, and behind tshark's -z.

#pragma once

#include "ws_compat.hpp"

namespace dissector {

/// All but the next.
void register_statistics(int proto);
/// Packets by opcode. Statistics trees register in the hand-off.
void register_opcode_statistics();

void register_half_flow_table();
void register_response_times(int proto);
void register_conversations(int proto);
void register_follow_stream(int proto);
void register_flow_graph(int proto);

}  // namespace dissector
