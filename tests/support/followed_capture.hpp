// SPDX-License-Identifier: BSD-3-Clause
// Follows the packets of a capture file, without the analyzer.

#pragma once

#include "roce/icrc.hpp"
#include "roce/net/observe.hpp"
#include "support/captures.hpp"
#include "support/followed.hpp"

namespace roce::test {

inline std::vector<flow::Observation> observations(const PcapFile& file) {
  std::vector<flow::Observation> out;
  net::AddressTable addresses;
  u64 number = 0;
  for (const CapturedFrame& frame : file.frames()) {
    number++;
    flow::Observation packet;
    net::Located at;
    const Bytes bytes = file.bytes(frame);
    if (net::observe_frame(bytes, frame.wire_size, file.link_type(), addresses, packet, at) !=
        net::Sighting::roce)
      continue;
    packet.time = frame.time;
    packet.frame = number;
    switch (check_icrc(bytes, at)) {
      case IcrcCheck::good: packet.flags |= flow::kIcrcGood; break;
      case IcrcCheck::bad: packet.flags |= flow::kIcrcBad; break;
      case IcrcCheck::not_captured: break;
    }
    out.push_back(packet);
  }
  return out;
}

inline Followed follow(const PcapFile& file) {
  return follow(observations(file));
}

}  // namespace roce::test
