// SPDX-License-Identifier: GPL-2.0-or-later
// How RoCE packets come to this plugin, and from it to Wireshark's own InfiniBand dissector.

#pragma once

#include "ws_compat.hpp"

namespace dissector {

/// Finds Wireshark's own dissectors of RoCE. For the hand-off: plugins' come after the built-in's.
void remember_in_tree();

/// Puts ours into every place that holds Wireshark's own, or takes them out when our protocol is
/// disabled. To be called at every file opened and every time packets are dissected anew.
void hook_tables();

/// Wireshark's own dissector of that RoCE version (1 or 2), or null.
dissector_handle_t in_tree(unsigned version);

}  // namespace dissector
