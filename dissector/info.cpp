// SPDX-License-Identifier: GPL-2.0-or-later
#include "info.hpp"

#include "management.hpp"
#include "roce/cm_message.hpp"
#include "roce/syndrome.hpp"
#include "words.hpp"

namespace dissector {

using namespace roce;
using flow::PacketClass;

namespace {

constexpr std::string_view kBar = " | ";

/// What is worth knowing first: "[Retransmission: nak_sequence, downstream] ".
void add_verdict(const Analysis& file, const Record& record, Line& out) {
  switch (record.packet_class) {
    case PacketClass::retransmission: {
      const Analysis::Verdict verdict = file.verdict(record);
      out << "[Retransmission";
      if (verdict.cause != flow::Cause::none) {
        out << ": " << name(verdict.cause) << ", " << name(verdict.place);
      }
      out << "] ";
      break;
    }
    case PacketClass::gap: out << "[Gap: " << record.missing << " missing] "; break;
    case PacketClass::reordered: out << "[Reordered] "; break;
    case PacketClass::duplicate_capture: out << "[Captured twice] "; break;
    case PacketClass::stale: out << "[Stale PSN] "; break;
    case PacketClass::none:
    case PacketClass::first:
    case PacketClass::in_order: break;
  }
  if (record.repeated_response) out << "[Repeated] ";
}

/// Where in its message the packet is: "Msg=12 2048/3072". A message of one packet has no parts.
void add_position(const Analysis& file, const Record& record, const OpcodeInfo& opcode, Line& out) {
  if (record.half_flow == 0 || !(record.flags & kHasMessage)) return;
  out << " Msg=" << record.message;
  const bool is_part = opcode.part != Part::only || opcode.operation == Operation::read_response;
  if (!is_part || !(record.flags & kHasOffset)) return;
  out << " " << record.offset;
  if (const uint32_t length = file.message_length(record)) out << "/" << length;
}

void add_cm_message(const Sighted& sighted, Line& out) {
  const std::optional<std::size_t> message = find_cm_message(sighted);
  const std::optional<CmMessage> decoded = decode_cm(sighted.packet);
  if (!message || !decoded) return;
  out << " CM " << kCmMessages[*message].name;
  const std::optional<u32> qp = decoded->local_qpn ? decoded->local_qpn : decoded->remote_qpn;
  if (qp) (out << " for QP=").qp(*qp);
  if (decoded->starting_psn) out << " from PSN=" << *decoded->starting_psn;
  if (decoded->reason) {
    const std::string_view words = reject_reason(*decoded->reason);
    out << " (" << (words.empty() ? "unknown reason" : words) << ")";
  }
}

}  // namespace

void summarize(const Sighted& sighted, const Analysis& file, const Record* record, Line& out) {
  const RocePacket& packet = sighted.packet;
  const bool notifies = packet.opcode().role == Role::notify;
  if (record) add_verdict(file, *record, out);
  const char* const words = opcode_text(packet.bth().opcode);
  out << (words ? words : "Unassigned opcode");
  (out << " QP=").qp(packet.dest_qp());
  if (!notifies) out << " PSN=" << packet.psn().value();
  if (!notifies && packet.payload_size() > 0) {
    out << " Len=" << static_cast<uint32_t>(packet.payload_size());
  }
  if (sighted.seen.has(flow::kHasDmaLength)) out << " DMALen=" << sighted.seen.dma_length;
  if (sighted.seen.has(flow::kHasAeth)) {
    const Syndrome syndrome(sighted.seen.syndrome());
    out << " MSN=" << (sighted.seen.aeth & 0xff'ffffu);
    if (!syndrome.is_ack()) out << " [" << syndrome_text(syndrome.value()) << "]";
  }
  add_cm_message(sighted, out);
  if (record) add_position(file, *record, packet.opcode(), out);
  if (packet.bth().ack_requested()) out << " AckReq";
}

bool says_nothing_more(const Sighted& sighted) {
  // Upper layers get the payload of these services, whole, and nothing else.
  const Service service = service_of(sighted.packet.bth().opcode);
  const bool carries = service == Service::rc || service == Service::uc || service == Service::ud;
  return !carries || sighted.packet.payload_size() == 0 || sighted.packet.stop() ||
         find_cm_message(sighted);
}

void begin_info(packet_info* pinfo, Line& summary, bool quiet) {
  const std::size_t size = summary.size();
  if (!quiet) summary << kBar;
  col_add_str(pinfo->cinfo, COL_INFO, summary.c_str());
  col_set_fence(pinfo->cinfo, COL_INFO);
  summary.cut(size);
  // Should they throw, the column stays closed until the next packet opens it.
  if (quiet) col_set_writable(pinfo->cinfo, COL_INFO, FALSE);
}

void end_info(packet_info* pinfo, Line& summary, bool quiet) {
  if (quiet) {
    col_set_writable(pinfo->cinfo, COL_INFO, TRUE);
    return;
  }
  // What it writes is "RC Send Only QP=0x000022 ", that and what upper layers say, or the latter
  // alone.
  constexpr std::size_t kNumber = sizeof("QP=0x000022") - 1;
  const char* const text = col_get_text(pinfo->cinfo, COL_INFO);
  const std::size_t ours = summary.size() + kBar.size();
  if (!text || std::strlen(text) < ours) return;
  const char* more = text + ours;
  if (const char* const repeated = std::strstr(more, "QP=0x")) {
    more = repeated + std::min(std::strlen(repeated), kNumber);
  }
  while (*more == ' ') more++;
  const std::size_t size = summary.size();
  if (*more) summary << kBar << more;
  col_clear_fence(pinfo->cinfo, COL_INFO);
  col_add_str(pinfo->cinfo, COL_INFO, summary.c_str());
  summary.cut(size);
}

}  // namespace dissector
