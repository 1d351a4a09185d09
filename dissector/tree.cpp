// SPDX-License-Identifier: GPL-2.0-or-later
// Adds only what was captured, so that no tvbuff access can throw: a cut packet is no malformed
// one.

#include "tree.hpp"

#include "fields.hpp"
#include "management.hpp"
#include "plugin.hpp"
#include "roce/syndrome.hpp"
#include "words.hpp"

namespace dissector {
namespace {

using namespace roce;

/// Fields of a header that lies at `offset`, those that were captured. True: all of them were.
bool add_header_fields(proto_tree* tree, tvbuff_t* tvb, int offset, const HeaderFields& header) {
  const auto captured = static_cast<int>(tvb_captured_length(tvb));
  for (const HeaderField& field : header.fields) {
    const int at = offset + field.offset;
    if (at + field.size > captured) return false;
    proto_item* const item =
        proto_tree_add_item(tree, *field.id, tvb, at, field.size, ENC_BIG_ENDIAN);
    if (field.show != Show::syndrome) continue;
    proto_tree* const inner = proto_item_add_subtree(item, id_of(Tree::syndrome));
    const Syndrome syndrome(tvb_get_ptr(tvb, at, 1)[0]);
    const auto add = [&](Own part) {
      proto_tree_add_item(inner, id_of(part), tvb, at, 1, ENC_BIG_ENDIAN);
    };
    add(Own::syndrome_type);
    if (syndrome.is_ack()) add(Own::syndrome_credits);
    if (syndrome.is_rnr_nak()) add(Own::syndrome_rnr_timer);
    if (syndrome.is_nak()) add(Own::syndrome_nak_code);
  }
  return true;
}

bool add_header(proto_tree* tree, tvbuff_t* tvb, int offset, const HeaderFields& header,
                Tree kind) {
  const int present =
      std::min(static_cast<int>(header.size), static_cast<int>(tvb_captured_length(tvb)) - offset);
  if (present <= 0) return false;
  proto_tree* const inner =
      proto_tree_add_subtree(tree, tvb, offset, present, id_of(kind), nullptr, header.name);
  return add_header_fields(inner, tvb, offset, header);
}

void add_extended(proto_tree* tree, tvbuff_t* tvb, int offset, const OpcodeInfo& opcode) {
  for (const HeaderInfo& header : kExtHeaders) {
    if (!opcode.headers.has(header.kind)) continue;
    const int at = offset + opcode.offset[static_cast<std::size_t>(header.kind)];
    if (!add_header(tree, tvb, at, extended_fields(header.kind), Tree::extended)) return;
  }
}

proto_item* add_generated_uint(proto_tree* tree, tvbuff_t* tvb, Own field, uint32_t value) {
  proto_item* const item = proto_tree_add_uint(tree, id_of(field), tvb, 0, 0, value);
  proto_item_set_generated(item);
  return item;
}

void add_management(proto_tree* tree, tvbuff_t* tvb, int at, const Sighted& sighted) {
  if (!is_management(sighted)) return;
  add_header(tree, tvb, at, mad_fields(), Tree::mad);
  const std::optional<std::size_t> message = find_cm_message(sighted);
  if (!message) return;
  const int data = at + static_cast<int>(sizeof(Mad));
  add_header(tree, tvb, data, cm_fields(*message), Tree::mad);
  if (const std::optional<std::size_t> addresses = find_ip_private(sighted)) {
    add_header(tree, tvb, data + static_cast<int>(*addresses), ip_private_fields(), Tree::mad);
  }
}

/// Payload, padding: what lies between the extended headers and the ICRC.
void add_body(proto_tree* tree, tvbuff_t* tvb, int body, const Sighted& sighted) {
  const RocePacket& packet = sighted.packet;
  const auto payload = static_cast<int>(packet.payload().size());
  if (packet.opcode().operation == Operation::cnp) {
    const int reserved = std::min(payload, static_cast<int>(kCnpReserved));
    if (reserved > 0) {
      proto_tree_add_item(tree, id_of(Own::cnp_reserved), tvb, body, reserved, ENC_NA);
    }
    return;
  }
  add_generated_uint(tree, tvb, Own::payload_size, static_cast<uint32_t>(packet.payload_size()));
  if (payload > 0) proto_tree_add_item(tree, id_of(Own::payload), tvb, body, payload, ENC_NA);
  add_management(tree, tvb, body, sighted);
  const int pad = packet.bth().pad_count();
  const int pad_at = body + static_cast<int>(packet.payload_size());
  if (pad > 0 && pad_at + pad <= static_cast<int>(tvb_captured_length(tvb))) {
    proto_tree_add_item(tree, id_of(Own::pad), tvb, pad_at, pad, ENC_NA);
  }
}

void add_icrc(proto_tree* tree, packet_info* pinfo, proto_item* top, tvbuff_t* tvb,
              const Sighted& sighted, IcrcStatus status) {
  if (!tree) {
    if (status == IcrcStatus::bad) expert_add_info(pinfo, top, id_of(Expert::icrc_bad));
    return;
  }
  const int at = sighted.bth + static_cast<int>(sighted.located.bth_size - kIcrcSize);
  const int end = at + static_cast<int>(kIcrcSize);
  proto_item* item = top;
  proto_tree* inner = tree;
  if (sighted.packet.icrc() && end <= static_cast<int>(tvb_captured_length(tvb))) {
    item = proto_tree_add_item(tree, id_of(Own::icrc), tvb, at, kIcrcSize, ENC_BIG_ENDIAN);
    if (status == IcrcStatus::good) proto_item_append_text(item, " [correct]");
    if (status == IcrcStatus::bad) proto_item_append_text(item, " [incorrect]");
    inner = proto_item_add_subtree(item, id_of(Tree::icrc));
  }
  proto_item* const words =
      proto_tree_add_string(inner, id_of(Own::icrc_status), tvb, 0, 0, name(status));
  proto_item_set_generated(words);
  if (status == IcrcStatus::good || status == IcrcStatus::bad) {
    add_generated_uint(inner, tvb, Own::icrc_expected, roce::icrc(sighted.frame, sighted.located));
  }
  if (status == IcrcStatus::bad) expert_add_info(pinfo, item, id_of(Expert::icrc_bad));
}

/// Everything that the packet consists of but the ICRC.
void add_fields(proto_tree* tree, proto_item* top, tvbuff_t* tvb, const Sighted& sighted) {
  const RocePacket& packet = sighted.packet;
  const char* const words = opcode_text(packet.bth().opcode);
  proto_item_append_text(top, ", %s, QP 0x%06x, PSN %u", words ? words : "unassigned opcode",
                         packet.dest_qp(), packet.psn().value());
  if (sighted.bth > 0) add_header(tree, tvb, 0, grh_fields(), Tree::grh);
  add_header(tree, tvb, sighted.bth, bth_fields(), Tree::bth);
  if (!packet.opcode().known()) return;
  const int extended = sighted.bth + static_cast<int>(sizeof(Bth));
  add_extended(tree, tvb, extended, packet.opcode());
  add_body(tree, tvb, extended + packet.opcode().headers_size, sighted);
}

void add_stop(proto_item* top, packet_info* pinfo, const Sighted& sighted) {
  switch (sighted.packet.stop().reason) {
    case StopReason::none: break;
    case StopReason::truncated: expert_add_info(pinfo, top, id_of(Expert::truncated)); break;
    case StopReason::unknown_opcode:
      expert_add_info(pinfo, top, id_of(Expert::unknown_opcode));
      break;
    case StopReason::bad_length: expert_add_info(pinfo, top, id_of(Expert::bad_length)); break;
  }
}

void add_answer(proto_item* top, packet_info* pinfo, const Sighted& sighted) {
  if (sighted.packet.opcode().role == Role::notify && sighted.packet.opcode().known()) {
    expert_add_info(pinfo, top, id_of(Expert::cnp));
  }
  if (!sighted.seen.has(flow::kHasAeth)) return;
  const Syndrome syndrome(sighted.seen.syndrome());
  if (syndrome.is_rnr_nak()) {
    expert_add_info_format(pinfo, top, id_of(Expert::rnr_nak), "%s",
                           syndrome_text(syndrome.value()));
  } else if (syndrome.is_nak()) {
    const bool fatal = syndrome.nak_code() != NakCode::sequence;
    expert_add_info_format(pinfo, top, id_of(fatal ? Expert::nak_fatal : Expert::nak), "%s",
                           syndrome_text(syndrome.value()));
  }
}

}  // namespace

proto_tree* add_packet(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Sighted& sighted,
                       IcrcStatus icrc) {
  proto_item* const top = proto_tree_add_item(tree, registered().proto, tvb, 0, -1, ENC_NA);
  proto_tree* inner = proto_item_add_subtree(top, id_of(Tree::packet));
  if (!sighted.is_roce()) {
    const bool cut = sighted.what == net::Sighting::undecoded;
    proto_item_append_text(top, cut ? ", not captured" : ", not a RoCE packet");
    expert_add_info(pinfo, top, id_of(cut ? Expert::truncated : Expert::not_roce));
    return nullptr;
  }
  // Nobody will look: neither the user nor a filter.
  if (!tree || !proto_field_is_referenced(tree, registered().proto)) inner = nullptr;
  if (inner) add_fields(inner, top, tvb, sighted);
  add_icrc(inner, pinfo, top, tvb, sighted, icrc);
  add_stop(top, pinfo, sighted);
  add_answer(top, pinfo, sighted);
  return inner;
}

}  // namespace dissector
