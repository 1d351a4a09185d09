// SPDX-License-Identifier: GPL-2.0-or-later
// The list of statistics, and the simplest of them: packets by opcode.

#include "statistics.hpp"

#include "tap.hpp"
#include "words.hpp"

namespace dissector {
namespace {

constexpr char kAll[] = "RoCE packets";
int g_all = -1;

void begin_opcodes(stats_tree* tree) {
  g_all = stats_tree_create_node(tree, kAll, 0, STAT_DT_INT, TRUE);
}

tap_packet_status count_opcode(stats_tree* tree, packet_info*, epan_dissect_t*, const void* data,
                               tap_flags_t) {
  const Tapped& packet = *static_cast<const Tapped*>(data);
  const char* const words = opcode_text(packet.seen.opcode);
  tick_stat_node(tree, kAll, 0, TRUE);
  tick_stat_node(tree, words ? words : "Unassigned", g_all, FALSE);
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_opcode_statistics() {
  stats_tree_register_plugin("roce", "roce", "RoCE" WS_MENU_SEPARATOR "Opcodes", 0, count_opcode,
                             begin_opcodes, nullptr);
}

void register_statistics(int proto) {
  register_half_flow_table();
  register_response_times(proto);
  register_conversations(proto);
  register_follow_stream(proto);
  register_flow_graph(proto);
}

}  // namespace dissector
