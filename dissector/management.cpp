// SPDX-License-Identifier: GPL-2.0-or-later
#include "management.hpp"

namespace dissector {

using namespace roce;

namespace {

std::optional<Mad> header_of(const Sighted& sighted) {
  if (!sighted.is_roce() || sighted.packet.dest_qp() != kCmQueuePair) return std::nullopt;
  if (service_of(sighted.packet.bth().opcode) != Service::ud) return std::nullopt;
  const std::optional<Mad> header = read<Mad>(sighted.packet.payload());
  return header && header->base_version == kMadBaseVersion ? header : std::nullopt;
}

struct Place {
  std::size_t bit;
  const Field* field;
};
std::optional<Place> find_field(const CmInfo& message, std::string_view abbrev) {
  std::size_t bit = 0;
  for (const Field& field : message.fields) {
    if (field.abbrev == abbrev) return Place{bit, &field};
    bit += field.bits;
  }
  return std::nullopt;
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

std::optional<uint64_t> cm_value(const Sighted& sighted, std::string_view abbrev) {
  const std::optional<std::size_t> message = find_cm_message(sighted);
  if (!message) return std::nullopt;
  const std::optional<Place> place = find_field(kCmMessages[*message], abbrev);
  const Bytes data = sighted.packet.payload().subspan(sizeof(Mad));
  if (!place || place->bit + place->field->bits > 8 * data.size()) return std::nullopt;
  return read_bits(data, place->bit, place->field->bits);
}

std::optional<std::size_t> find_ip_private(const Sighted& sighted) {
  // Service IDs that begin so are those of RDMA IP CM (IBTA A11.3.1).
  constexpr uint64_t kPrefix = 1;
  const std::optional<uint64_t> service = cm_value(sighted, "serviceid");
  const std::optional<std::size_t> message = find_cm_message(sighted);
  if (!message || !service || *service >> 24 != kPrefix) return std::nullopt;
  const CmKind kind = kCmMessages[*message].kind;
  if (kind != CmKind::req && kind != CmKind::sidr_req) return std::nullopt;
  const std::optional<Place> place = find_field(kCmMessages[*message], "private");
  return place ? std::optional(place->bit / 8) : std::nullopt;
}

}  // namespace dissector
