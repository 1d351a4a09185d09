// SPDX-License-Identifier: GPL-2.0-or-later
// The analysis of a packet, as fields and expert infos in the packet details.

#pragma once

#include "analysis.hpp"

namespace dissector {

/// `tree` may be null: then only the expert infos are added.
void add_verdict(proto_tree* tree, tvbuff_t* tvb, packet_info* pinfo, const Analysis& file,
                 const Record& record, const roce::flow::Observation& seen);

}  // namespace dissector
