// SPDX-License-Identifier: GPL-2.0-or-later
// Flow graph "RoCE flows": hosts side by side, an arrow for each packet: -z flow,roce,standard.

#include "statistics.hpp"
#include "tap.hpp"
#include "words.hpp"

namespace dissector {
namespace {

using namespace roce;

char* comment_of(const Tapped& packet) {
  const Record& record = *packet.record;
  const char* const qp_and_psn = "QP 0x%06x PSN %u%s%s";
  const char* detail = "";
  if (packet.seen.has(flow::kHasAeth)) detail = syndrome_text(packet.seen.syndrome());
  switch (record.packet_class) {
    case flow::PacketClass::none:
    case flow::PacketClass::first:
    case flow::PacketClass::in_order: break;
    default: detail = name(record.packet_class).data(); break;
  }
  return g_strdup_printf(qp_and_psn, packet.seen.dest_qp, packet.seen.psn, *detail ? ": " : "",
                         detail);
}

tap_packet_status add(void* user, packet_info* pinfo, epan_dissect_t*, const void* data,
                      tap_flags_t) {
  auto* const graph = static_cast<FlowGraph*>(user);
  const Tapped& packet = *static_cast<const Tapped*>(data);
  FlowGraphItem* const item = sequence_analysis_create_sai_with_addresses(pinfo, graph);
  if (!item) return TAP_PACKET_DONT_REDRAW;
  free_address(&item->src_addr);
  free_address(&item->dst_addr);
  copy_address(&item->src_addr, &packet.source);
  copy_address(&item->dst_addr, &packet.destination);
  const char* const words = opcode_text(packet.seen.opcode);
  item->frame_number = packet.record->frame;
  item->frame_label = g_strdup(words ? words : "Unassigned");
  item->comment = comment_of(packet);
  item->line_style = 1;
  item->conv_num = static_cast<uint16_t>(packet.stream);
  item->display = TRUE;
  g_queue_push_tail(graph->items, item);
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_flow_graph(int proto) {
  register_seq_analysis("roce", "RoCE flows", proto, nullptr, 0, add);
}

}  // namespace dissector
