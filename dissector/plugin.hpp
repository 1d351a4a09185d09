// SPDX-License-Identifier: GPL-2.0-or-later
// What the parts of the plugin share: the protocol's id, its dissectors and its preferences.

#pragma once

#include "ws_compat.hpp"

namespace dissector {

/// What the user set under Preferences, Protocols, RoCE.
struct Preferences {
  Bool verify_icrc = true;
  Bool analyze = true;
  Bool info_column = true;
};

/// Ids that Wireshark gives out while plugins register.
struct Registered {
  int proto = -1;
  int tap = -1;         // a Tapped for each packet
  int follow_tap = -1;  // the same, when someone follows a stream
  dissector_handle_t v1 = nullptr;
  dissector_handle_t v2 = nullptr;
};

const Preferences& preferences();
const Registered& registered();

}  // namespace dissector
