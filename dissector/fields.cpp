// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark keeps pointers to everything that is registered, so all of it lives in one static
// object that is filled once.

#include "fields.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include "field_rows.hpp"
#include "roce/opcode.hpp"
#include "roce/syndrome.hpp"
#include "roce/wire/grh.hpp"
#include "roce/wire/mad.hpp"
#include "words.hpp"

namespace dissector {
namespace {

struct Registry {
  std::deque<std::string> texts;
  std::deque<int> ids;  // never moved: Wireshark writes them
  std::vector<hf_register_info> registered;
  std::deque<std::vector<HeaderField>> headers_of;
  HeaderFields bth, grh, mad, ip_private;
  std::array<HeaderFields, std::size(roce::kCmMessages)> cm;
  std::array<HeaderFields, roce::kExtCount> extended;
  std::array<int, kOwnCount> own;
  std::array<int, kTreeCount> trees;
  std::array<expert_field, kExpertCount> experts;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

const char* keep(std::string text) {
  return registry().texts.emplace_back(std::move(text)).c_str();
}

/// The whole bytes that hold a field, and which of their bits are its; no mask: all of them.
struct Container {
  uint16_t offset;
  uint8_t size;
  uint64_t mask;
};
constexpr Container container_of(std::size_t bit, std::size_t bits) {
  const std::size_t first = bit / 8, last = (bit + bits - 1) / 8, size = last - first + 1;
  uint64_t mask = 0;
  if (bit % 8 != 0 || bits % 8 != 0) {
    mask = ((uint64_t{1} << bits) - 1) << (8 * size - bit % 8 - bits);
  }
  return {static_cast<uint16_t>(first), static_cast<uint8_t>(size), mask};
}
static_assert(container_of(4, 8).size == 2 && container_of(4, 8).mask == 0x0ff0);
static_assert(container_of(12, 20).size == 3 && container_of(12, 20).mask == 0x0f'ffff);

constexpr ftenum unsigned_type(std::size_t bytes) {
  constexpr ftenum kTypes[] = {FT_NONE,   FT_UINT8,  FT_UINT16, FT_UINT24, FT_UINT32,
                               FT_UINT40, FT_UINT48, FT_UINT56, FT_UINT64};
  return bytes < std::size(kTypes) ? kTypes[bytes] : FT_BYTES;
}

hf_register_info describe(const roce::Field& row, const Container& at, const char* abbrev) {
  using roce::Show;
  header_field_info info = {
      row.name.data(), abbrev, unsigned_type(at.size), BASE_DEC, nullptr, at.mask, nullptr, HFILL};
  switch (row.show) {
    case Show::decimal: break;
    case Show::hex:
    case Show::reserved: info.display = BASE_HEX; break;
    case Show::flag:
      info.type = FT_BOOLEAN;
      info.display = 8 * at.size;
      info.strings = TFS(&tfs_set_notset);
      break;
    case Show::opcode:
      info.display = BASE_HEX | BASE_EXT_STRING;
      info.strings = opcode_words();
      break;
    case Show::syndrome:
      info.display = BASE_HEX | BASE_EXT_STRING;
      info.strings = syndrome_words();
      break;
    case Show::bytes:
      info.type = FT_BYTES;
      info.display = BASE_NONE;
      break;
    case Show::ipv6:
      info.type = FT_IPv6;
      info.display = BASE_NONE;
      break;
  }
  if (info.type == FT_BYTES) info.display = BASE_NONE;
  return {nullptr, info};
}

/// Messages share fields: the same name in the same bits is the same field.
int* id_for(hf_register_info wanted) {
  Registry& all = registry();
  for (const hf_register_info& known : all.registered) {
    if (std::strcmp(known.hfinfo.abbrev, wanted.hfinfo.abbrev) == 0 &&
        known.hfinfo.type == wanted.hfinfo.type && known.hfinfo.bitmask == wanted.hfinfo.bitmask) {
      return known.p_id;
    }
  }
  wanted.p_id = &all.ids.emplace_back(-1);
  all.registered.push_back(wanted);
  return wanted.p_id;
}

HeaderFields add_header(std::string_view abbrev, std::string_view name,
                        std::span<const roce::Field> rows) {
  std::vector<HeaderField>& fields = registry().headers_of.emplace_back();
  std::size_t bit = 0;
  for (const roce::Field& row : rows) {
    const Container at = container_of(bit, row.bits);
    const char* const full = keep("roce." + std::string(abbrev) + "." + std::string(row.abbrev));
    fields.push_back({id_for(describe(row, at, full)), at.offset, at.size, row.show});
    bit += row.bits;
  }
  return {keep(std::string(name)), static_cast<unsigned>(bit / 8), fields};
}

}  // namespace

void register_fields(int proto) {
  Registry& all = registry();
  all.bth = add_header("bth", "Base Transport Header", roce::kBthFields);
  all.grh = add_header("grh", "Global Route Header", roce::kGrhFields);
  for (const roce::HeaderInfo& header : roce::kExtHeaders) {
    all.extended[static_cast<std::size_t>(header.kind)] =
        add_header(header.abbrev, header.name, header.fields);
  }
  all.mad = add_header("mad", "Management Datagram", roce::kMadFields);
  for (std::size_t i = 0; i < all.cm.size(); i++) {
    const roce::CmInfo& message = roce::kCmMessages[i];
    const std::string name = "CM " + std::string(message.name) + ", " + std::string(message.text);
    all.cm[i] = add_header("cm", name, message.fields);
  }
  all.ip_private = add_header("cm.ip", "RDMA-CM addresses", roce::kIpPrivateFields);
  all.own.fill(-1);
  for (const OwnRow& row : kOwnRows) {
    all.registered.push_back({&all.own[static_cast<std::size_t>(row.field)],
                              {row.name, row.abbrev, row.type, row.display, strings_of(row),
                               row.mask, row.description, HFILL}});
  }
  proto_register_field_array(proto, all.registered.data(), static_cast<int>(all.registered.size()));

  static std::array<int*, kTreeCount> trees;
  all.trees.fill(-1);
  for (std::size_t i = 0; i < kTreeCount; i++) trees[i] = &all.trees[i];
  proto_register_subtree_array(trees.data(), static_cast<int>(trees.size()));

  static std::vector<ei_register_info> experts;
  all.experts.fill(EI_INIT);
  for (const ExpertRow& row : kExpertRows) {
    experts.push_back({&all.experts[static_cast<std::size_t>(row.info)],
                       {row.abbrev, row.group, row.severity, row.summary, EXPFILL}});
  }
  expert_register_field_array(expert_register_protocol(proto), experts.data(),
                              static_cast<int>(experts.size()));
}

const HeaderFields& bth_fields() {
  return registry().bth;
}
const HeaderFields& grh_fields() {
  return registry().grh;
}
const HeaderFields& extended_fields(roce::Ext kind) {
  return registry().extended[static_cast<std::size_t>(kind)];
}
const HeaderFields& mad_fields() {
  return registry().mad;
}
const HeaderFields& cm_fields(std::size_t index) {
  return registry().cm[index];
}
const HeaderFields& ip_private_fields() {
  return registry().ip_private;
}
int id_of(Own field) {
  return registry().own[static_cast<std::size_t>(field)];
}
int id_of(Tree tree) {
  return registry().trees[static_cast<std::size_t>(tree)];
}
expert_field* id_of(Expert info) {
  return &registry().experts[static_cast<std::size_t>(info)];
}

}  // namespace dissector
