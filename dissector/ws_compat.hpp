// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark's headers, and the one place that knows how they differ between 4.0, 4.2, 4.4 and 4.6.

#pragma once

#define WS_BUILD_DLL 1  // the plugin exports symbols of its own
#include <wireshark.h>
//
#include <epan/conversation.h>
#include <epan/conversation_filter.h>
#include <epan/conversation_table.h>
#include <epan/decode_as.h>
#include <epan/epan.h>
#include <epan/expert.h>
#include <epan/exported_pdu.h>
#include <epan/follow.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/proto_data.h>
#include <epan/srt_table.h>
#include <epan/stat_groups.h>
#include <epan/stat_tap_ui.h>
#include <epan/stats_tree.h>
#include <epan/tap.h>
#include <epan/to_str.h>

#define WS_AT_LEAST(major, minor)       \
  (WIRESHARK_VERSION_MAJOR > (major) || \
   (WIRESHARK_VERSION_MAJOR == (major) && WIRESHARK_VERSION_MINOR >= (minor)))

namespace dissector {

#if WS_AT_LEAST(4, 4)
using Bool = bool;  // of callbacks and preferences
#else
using Bool = gboolean;
#endif

/// Callbacks of conversation filters have a further parameter since 4.2.
#if WS_AT_LEAST(4, 2)
#define WS_USER_DATA , void*
#define WS_NO_USER_DATA , nullptr
#else
#define WS_USER_DATA
#define WS_NO_USER_DATA
#endif

/// What separates a menu from its entry in the name of a statistics tree.
#if WS_AT_LEAST(4, 4)
#define WS_MENU_SEPARATOR "//"
#else
#define WS_MENU_SEPARATOR "/"
#endif

inline void register_follow(int proto, const char* tap, follow_conv_filter_func by_packet,
                            follow_index_filter_func by_index,
                            follow_address_filter_func by_address, follow_port_to_display_func port,
                            tap_packet_cb packet, [[maybe_unused]] uint32_t (*streams)()) {
#if WS_AT_LEAST(4, 2)
  register_follow_stream(proto, tap, by_packet, by_index, by_address, port, packet, streams,
                         nullptr);
#else
  register_follow_stream(proto, tap, by_packet, by_index, by_address, port, packet);
#endif
}

}  // namespace dissector

// libwireshark exports what flow graphs need, but none of 4.0 to 4.6 installs the header,
// epan/sequence_analysis.h. Declared as it is there, as far as it is used, under names of our own.
extern "C" {
struct FlowGraphItem {
  uint32_t frame_number;
  address src_addr;
  uint16_t port_src;
  address dst_addr;
  uint16_t port_dst;
  char* frame_label;  // on the arrow
  char* time_str;
  char* comment;  // beside the graph
  uint16_t conv_num;
  unsigned fg_color, bg_color;
  dissector::Bool has_color_filter;
  dissector::Bool display;
  unsigned src_node, dst_node;
  uint16_t line_style;
};
struct FlowGraph {
  const char* name;
  dissector::Bool any_addr;
  int nconv;
  GQueue* items;
};
WS_DLL_PUBLIC void register_seq_analysis(const char* name, const char* ui_name, const int proto_id,
                                         const char* tap_listener, unsigned tap_flags,
                                         tap_packet_cb tap_func);
WS_DLL_PUBLIC FlowGraphItem* sequence_analysis_create_sai_with_addresses(packet_info* pinfo,
                                                                         FlowGraph* graph);
}
