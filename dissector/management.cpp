// SPDX-License-Identifier: GPL-2.0-or-later
// Which of them it is, is the core's to say; here they are found again as rows.

#include "management.hpp"

#include "roce/cm_message.hpp"

namespace dissector {

using namespace roce;

namespace {

std::optional<Mad> header_of(const Sighted& sighted) {
  if (!sighted.is_roce() || sighted.packet.dest_qp() != kCmQueuePair) return std::nullopt;
  if (service_of(sighted.packet.bth().opcode) != Service::ud) return std::nullopt;
  const std::optional<Mad> header = read<Mad>(sighted.packet.payload());
  return header && header->base_version == kMadBaseVersion ? header : std::nullopt;
}

}  // namespace

bool is_management(const Sighted& sighted) {
  return header_of(sighted).has_value();
}

std::optional<std::size_t> find_cm_message(const Sighted& sighted) {
  const std::optional<Mad> header = header_of(sighted);
  if (!header || header->management_class != kCmClass || header->class_version != kCmClassVersion) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < std::size(kCmMessages); i++) {
    if (static_cast<u16>(kCmMessages[i].kind) == header->attribute) return i;
  }
  return std::nullopt;
}

std::optional<std::size_t> find_ip_private(const Sighted& sighted) {
  const std::optional<std::size_t> message = find_cm_message(sighted);
  const std::optional<CmMessage> decoded = decode_cm(sighted.packet);
  if (!message || !decoded || !decoded->service_id || !is_ip_service(*decoded->service_id)) {
    return std::nullopt;
  }
  if (decoded->kind != CmKind::req && decoded->kind != CmKind::sidr_req) return std::nullopt;
  const auto place = find_field(kCmMessages[*message].fields, "private");
  return place ? std::optional(place->at / 8) : std::nullopt;
}

}  // namespace dissector
