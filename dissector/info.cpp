// SPDX-License-Identifier: GPL-2.0-or-later
// Text is put together by Wireshark's own functions: a std::string would be lost when one of them
// leaves by longjmp.

#include "info.hpp"

#include "management.hpp"
#include "roce/syndrome.hpp"
#include "words.hpp"

namespace dissector {

using namespace roce;
using flow::PacketClass;

namespace {

/// What is worth knowing first: "[Retransmission: nak_sequence, downstream] ".
void write_verdict(column_info* columns, const Analysis& file, const Record& record) {
  const Analysis::Verdict verdict = file.verdict(record);
  switch (record.packet_class) {
    case PacketClass::retransmission:
      if (verdict.cause == flow::Cause::none) {
        col_append_str(columns, COL_INFO, "[Retransmission] ");
      } else {
        col_append_fstr(columns, COL_INFO, "[Retransmission: %s, %s] ", name(verdict.cause).data(),
                        name(verdict.place).data());
      }
      break;
    case PacketClass::gap:
      col_append_fstr(columns, COL_INFO, "[Gap: %u missing] ", record.missing);
      break;
    case PacketClass::reordered: col_append_str(columns, COL_INFO, "[Reordered] "); break;
    case PacketClass::duplicate_capture:
      col_append_str(columns, COL_INFO, "[Captured twice] ");
      break;
    case PacketClass::stale: col_append_str(columns, COL_INFO, "[Stale PSN] "); break;
    case PacketClass::none:
    case PacketClass::first:
    case PacketClass::in_order: break;
  }
  if (record.repeated_response) col_append_str(columns, COL_INFO, "[Repeated] ");
}

/// Where in its message the packet is: "Msg=12 2048/3072". A message of one packet has no parts.
void write_position(column_info* columns, const Analysis& file, const Record& record,
                    const OpcodeInfo& opcode) {
  if (record.half_flow == 0 || !(record.flags & kHasMessage)) return;
  col_append_fstr(columns, COL_INFO, " Msg=%u", record.message);
  const bool is_part = opcode.part != Part::only || opcode.operation == Operation::read_response;
  if (!is_part || !(record.flags & kHasOffset)) return;
  col_append_fstr(columns, COL_INFO, " %u", record.offset);
  if (const uint32_t length = file.message_length(record)) {
    col_append_fstr(columns, COL_INFO, "/%u", length);
  }
}

}  // namespace

namespace {

void write_cm_message(column_info* columns, const Sighted& sighted) {
  const std::optional<std::size_t> message = find_cm_message(sighted);
  if (!message) return;
  col_append_fstr(columns, COL_INFO, " CM %s", kCmMessages[*message].name.data());
  if (const auto qp = cm_value(sighted, "localqpn")) {
    col_append_fstr(columns, COL_INFO, " for QP=0x%06x", static_cast<unsigned>(*qp));
  } else if (const auto remote = cm_value(sighted, "remoteqpn")) {
    col_append_fstr(columns, COL_INFO, " for QP=0x%06x", static_cast<unsigned>(*remote));
  }
  if (const auto psn = cm_value(sighted, "startingpsn")) {
    col_append_fstr(columns, COL_INFO, " from PSN=%u", static_cast<unsigned>(*psn));
  }
  if (const auto reason = cm_value(sighted, "reason")) {
    col_append_fstr(columns, COL_INFO, " reason %u", static_cast<unsigned>(*reason));
  }
}

}  // namespace

void write_summary(packet_info* pinfo, const Sighted& sighted, const Analysis& file,
                   const Record* record) {
  column_info* const columns = pinfo->cinfo;
  const RocePacket& packet = sighted.packet;
  col_clear(columns, COL_INFO);
  if (record) write_verdict(columns, file, *record);
  const char* const words = opcode_text(packet.bth().opcode);
  if (words) {
    col_append_str(columns, COL_INFO, words);
  } else {
    col_append_fstr(columns, COL_INFO, "Unassigned opcode 0x%02x", packet.bth().opcode);
  }
  col_append_fstr(columns, COL_INFO, " QP=0x%06x", packet.dest_qp());
  if (packet.opcode().role != Role::notify) {
    col_append_fstr(columns, COL_INFO, " PSN=%u", packet.psn().value());
  }
  if (packet.payload_size() > 0 && packet.opcode().role != Role::notify) {
    col_append_fstr(columns, COL_INFO, " Len=%u", static_cast<unsigned>(packet.payload_size()));
  }
  if (sighted.seen.has(flow::kHasDmaLength)) {
    col_append_fstr(columns, COL_INFO, " DMALen=%u", sighted.seen.dma_length);
  }
  if (sighted.seen.has(flow::kHasAeth)) {
    const Syndrome syndrome(sighted.seen.syndrome());
    col_append_fstr(columns, COL_INFO, " MSN=%u", sighted.seen.aeth & 0xff'ffffu);
    if (!syndrome.is_ack()) {
      col_append_fstr(columns, COL_INFO, " [%s]", syndrome_text(syndrome.value()));
    }
  }
  write_cm_message(columns, sighted);
  if (record) write_position(columns, file, *record, packet.opcode());
  if (packet.bth().ack_requested()) col_append_str(columns, COL_INFO, " AckReq");
  col_set_fence(columns, COL_INFO);
}

bool says_nothing_more(const Sighted& sighted) {
  // Upper layers get the payload of these services, whole, and nothing else.
  const Service service = service_of(sighted.packet.bth().opcode);
  const bool carries = service == Service::rc || service == Service::uc || service == Service::ud;
  return !carries || sighted.packet.payload_size() == 0 || sighted.packet.stop() ||
         find_cm_message(sighted);
}

void drop_repetition(packet_info* pinfo, std::size_t ours) {
  // What it writes is "RC Send Only QP=0x000022 ", that and what upper layers say, or the latter
  // alone.
  constexpr std::size_t kNumber = sizeof("QP=0x000022") - 1;
  const char* const text = col_get_text(pinfo->cinfo, COL_INFO);
  if (!text || std::strlen(text) < ours) return;
  const char* more = text + ours;
  if (std::strncmp(more, " | ", 3) == 0) more += 3;
  if (const char* const repeated = std::strstr(more, "QP=0x")) {
    more = repeated + std::min(std::strlen(repeated), kNumber);
  }
  while (*more == ' ') more++;
  const auto size = static_cast<int>(ours);
  const char* const whole = *more ? wmem_strdup_printf(pinfo->pool, "%.*s | %s", size, text, more)
                                  : wmem_strdup_printf(pinfo->pool, "%.*s", size, text);
  col_clear_fence(pinfo->cinfo, COL_INFO);
  col_add_str(pinfo->cinfo, COL_INFO, whole);
}

}  // namespace dissector
