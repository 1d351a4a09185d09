// SPDX-License-Identifier: GPL-2.0-or-later
// What statistics get of each packet. Wireshark may have changed its own idea of the packet's
// addresses and ports by the time they get it, so everything they need is in here.

#pragma once

#include "analysis.hpp"

namespace dissector {

/// Lives as long as the packet is dissected.
struct Tapped {
  const Record* record = nullptr;  // never null
  roce::flow::Observation seen;
  address source, destination;
  roce::Bytes payload;  // as captured
  uint32_t stream = 0;
  uint32_t source_qp = 0;  // 0 unknown
  roce::flow::Cause cause{};
  roce::flow::Place place{};
};

/// Hands the packet to whoever listens.
void tap_packet(packet_info* pinfo, const Sighted& sighted, const Record& record);

}  // namespace dissector
