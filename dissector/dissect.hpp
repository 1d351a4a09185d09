// SPDX-License-Identifier: GPL-2.0-or-later
// What Wireshark calls for every RoCE packet, and around every capture file.

#pragma once

#include "ws_compat.hpp"

namespace dissector {

/// `tvb` starts at the BTH, behind a UDP header.
int dissect_v2(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
/// `tvb` starts at the GRH, behind the EtherType.
int dissect_v1(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);

}  // namespace dissector
