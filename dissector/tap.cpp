// SPDX-License-Identifier: GPL-2.0-or-later
// The record is not built by a constructor that could throw: it lies in Wireshark's own memory.

#include "tap.hpp"

#include <new>

#include "file.hpp"
#include "plugin.hpp"

namespace dissector {
namespace {

address to_wireshark(wmem_allocator_t* pool, const roce::net::Address& from) {
  address out = ADDRESS_INIT_NONE;
  switch (from.kind) {
    case roce::net::AddressKind::ipv4:
      alloc_address_wmem(pool, &out, AT_IPv4, 4, from.octets.data());
      break;
    case roce::net::AddressKind::ipv6:
      alloc_address_wmem(pool, &out, AT_IPv6, 16, from.octets.data());
      break;
    case roce::net::AddressKind::none:
    case roce::net::AddressKind::lid: break;
  }
  return out;
}

}  // namespace

void tap_packet(packet_info* pinfo, const Sighted& sighted, const Record& record) {
  const bool follows = have_tap_listener(registered().follow_tap);
  if (!follows && !have_tap_listener(registered().tap)) return;
  const Analysis::Verdict verdict = file().verdict(record);
  auto* const tapped = new (wmem_alloc(pinfo->pool, sizeof(Tapped)))
      Tapped{&record,
             sighted.seen,
             to_wireshark(pinfo->pool, sighted.source),
             to_wireshark(pinfo->pool, sighted.destination),
             sighted.packet.payload(),
             file().stream(record),
             file().source_qp(record).value_or(sighted.seen.source_qp),
             verdict.cause,
             verdict.place};
  tap_queue_packet(registered().tap, pinfo, tapped);
  if (follows) tap_queue_packet(registered().follow_tap, pinfo, tapped);
}

}  // namespace dissector
