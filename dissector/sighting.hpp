// SPDX-License-Identifier: GPL-2.0-or-later
// What the core sees in the bytes that Wireshark hands over.

#pragma once

#include "roce/icrc.hpp"
#include "roce/net/observe.hpp"
#include "ws_compat.hpp"

namespace dissector {

/// Has no destructor: it may be alive while Wireshark leaves a function by longjmp.
struct Sighted {
  roce::net::Sighting what{};
  roce::flow::Observation seen;  // meaningful when `what` is roce
  roce::net::Located located;    // in `frame`; likewise
  roce::Bytes frame;             // the innermost data source of the packet, as captured
  bool has_network = false;      // its IP header or GRH is there too: the ICRC can be checked
  int bth = 0;                   // offset of the BTH in the tvbuff
  roce::RocePacket packet;
  roce::net::Address source, destination;

  bool is_roce() const { return what == roce::net::Sighting::roce; }
};
static_assert(std::is_trivially_destructible_v<Sighted>);

/// Looks at a RoCEv2 packet, whose UDP payload `tvb` is, or (`version` 1) at a RoCEv1 packet from
/// its GRH on. Sees what the analyzer sees in the same frame. Never throws a Wireshark exception.
Sighted sight(tvbuff_t* tvb, const packet_info* pinfo, unsigned version,
              roce::net::AddressTable& addresses);

/// The ICRC of a sighted packet; nothing where it cannot be known.
enum class IcrcStatus : uint8_t { good, bad, not_captured, not_checked };
IcrcStatus check_icrc(const Sighted& sighted);
const char* name(IcrcStatus status);

}  // namespace dissector
