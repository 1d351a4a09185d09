// SPDX-License-Identifier: GPL-2.0-or-later
// The packet details: one subtree per header, as the core decoded it.

#pragma once

#include "sighting.hpp"

namespace dissector {

/// Adds the packet's own tree to `tree`, which may be null. Returns the subtree, for more; null
/// when nobody would see it.
proto_tree* add_packet(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Sighted& sighted,
                       IcrcStatus icrc);

}  // namespace dissector
