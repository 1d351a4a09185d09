// SPDX-License-Identifier: BSD-3-Clause
// Which packets are worth a look. See event.hpp.

#include "report/event.hpp"

#include "roce/syndrome.hpp"

namespace rocetrace {

using roce::flow::Observation;
using roce::flow::PacketClass;
using roce::flow::StreamKind;

EventKind event_kind(const Moment& moment) {
  if (!moment.packet || moment.arrival.flow == 0) return EventKind::none;
  const Observation& packet = *moment.packet;
  if (moment.arrival.stream == StreamKind::cnp) return EventKind::cnp;
  if (packet.has(roce::flow::kHasAeth)) {
    const roce::Syndrome syndrome(packet.syndrome());
    if (syndrome.is_rnr_nak()) return EventKind::rnr_nak;
    if (syndrome.is_nak()) return EventKind::nak;
  }
  if (moment.arrival.packet_class == PacketClass::retransmission) return EventKind::retransmission;
  if (moment.arrival.packet_class == PacketClass::gap || moment.arrival.missing > 0)
    return EventKind::gap;
  return EventKind::none;
}

Word syndrome_word(u8 byte) {
  const roce::Syndrome syndrome(byte);
  if (syndrome.is_ack()) return "ack";
  if (syndrome.is_rnr_nak()) return "rnr_nak";
  if (!syndrome.is_nak()) return "reserved";
  switch (syndrome.nak_code()) {
    case roce::NakCode::sequence: return "nak_sequence";
    case roce::NakCode::invalid_request: return "nak_invalid_request";
    case roce::NakCode::remote_access: return "nak_remote_access";
    case roce::NakCode::remote_operational: return "nak_remote_operational";
    case roce::NakCode::invalid_rd_request: return "nak_invalid_rd_request";
  }
  return "nak_reserved";
}

bool is_noteworthy(const Moment& moment) {
  if (event_kind(moment) != EventKind::none) return true;
  if (!moment.packet || moment.arrival.flow == 0) return false;
  const PacketClass packet_class = moment.arrival.packet_class;
  return packet_class == PacketClass::reordered || packet_class == PacketClass::stale ||
         packet_class == PacketClass::duplicate_capture || moment.arrival.repeated_response ||
         moment.packet->has(roce::flow::kIcrcBad);
}

}  // namespace rocetrace
