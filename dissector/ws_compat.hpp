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

}  // namespace dissector
