// SPDX-License-Identifier: GPL-2.0-or-later
// One row per half-flow, with the columns of the text report: -z roce,qp.
//
// tshark prints a column's name as it is, and its values by the format, so both have the same
// width.

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "roce/opcode.hpp"
#include "roce/syndrome.hpp"
#include "statistics.hpp"
#include "tap.hpp"

namespace dissector {
namespace {

using namespace roce;

enum Column : unsigned {
  kNumber,
  kStream,
  kSource,
  kDestination,
  kQueuePair,
  kService,
  kPackets,
  kBytes,
  kResent,
  kMissing,
  kNaks,
  kRnrNaks,
  kCnps,
  kCeMarks,
  kColumns
};

// clang-format off
std::array<stat_tap_table_item, kColumns> g_columns = {{
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, "Half-flow",               "%9u"},
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, "Stream",                  "%6u"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT,  "Source                 ", "%-23s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT,  "Destination            ", "%-23s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_RIGHT, "      QP",                "%8s"},
    {TABLE_ITEM_STRING, TAP_ALIGN_LEFT,  "Type",                    "%-4s"},
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, " Packets",                "%8u"},
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, "     Bytes",              "%10u"},
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, "Resent",                  "%6u"},
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, "Missing",                 "%7u"},
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, "  NAK",                   "%5u"},
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, "  RNR",                   "%5u"},
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, "  CNP",                   "%5u"},
    {TABLE_ITEM_UINT,   TAP_ALIGN_RIGHT, "   CE",                   "%5u"},
}};
// clang-format on

constexpr char kTitle[] = "RoCE Queue Pairs";

/// Row of each half-flow in each open table, by half-flow; kNone where there is none.
constexpr unsigned kNone = ~0u;
using Rows = std::map<const stat_tap_table*, std::vector<unsigned>>;
Rows& rows() {
  static Rows instance;
  return instance;
}

void begin(stat_tap_table_ui* ui) {
  stat_tap_table* table = stat_tap_find_table(ui, kTitle);
  if (table) {
    if (ui->stat_tap_reset_table_cb) ui->stat_tap_reset_table_cb(table);
    return;
  }
  table = stat_tap_init_table(kTitle, kColumns, 0, nullptr);
  rows().erase(table);
  stat_tap_add_table(ui, table);
}

void clear(stat_tap_table* table) {
  for (unsigned row = 0; row < table->num_elements; row++) {
    for (unsigned column = kPackets; column < kColumns; column++) {
      stat_tap_table_item_type* const item = stat_tap_get_field_data(table, row, column);
      item->value.uint_value = 0;
      stat_tap_set_field_data(table, row, column, item);
    }
  }
}

void release(stat_tap_table* table, unsigned, unsigned column, stat_tap_table_item_type* item) {
  rows().erase(table);
  if (item->type == TABLE_ITEM_STRING && column < kPackets) {
    g_free(const_cast<char*>(item->value.string_value));
  }
}

char* text_of(const address& from) {
  char* const in_pool = address_to_str(nullptr, &from);
  char* const out = g_strdup(in_pool);
  wmem_free(nullptr, in_pool);
  return out;
}

unsigned add_row(stat_tap_table* table, const Tapped& packet) {
  std::array<stat_tap_table_item_type, kColumns> items{};
  for (unsigned i = 0; i < kColumns; i++) items[i].type = g_columns[i].type;
  items[kNumber].value.uint_value = packet.record->half_flow;
  items[kStream].value.uint_value = packet.stream;
  items[kSource].value.string_value = text_of(packet.source);
  items[kDestination].value.string_value = text_of(packet.destination);
  items[kQueuePair].value.string_value = g_strdup_printf("0x%06x", packet.seen.dest_qp);
  const OpcodeInfo& opcode = opcode_info(packet.seen.opcode);
  items[kService].value.string_value = g_strdup(opcode.known() ? opcode.service.data() : "?");
  const unsigned row = table->num_elements;
  stat_tap_init_table_row(table, row, kColumns, items.data());
  return row;
}

void add(stat_tap_table* table, unsigned row, Column column, uint32_t count) {
  if (count == 0) return;
  stat_tap_table_item_type* const item = stat_tap_get_field_data(table, row, column);
  // Bytes may be more than a cell holds.
  const unsigned room = ~0u - item->value.uint_value;
  item->value.uint_value += std::min(count, room);
  stat_tap_set_field_data(table, row, column, item);
}

/// A CNP may be the first that is seen to a QP; it says nothing of the QP's service.
void correct_service(stat_tap_table* table, unsigned row, const Tapped& packet) {
  stat_tap_table_item_type* const item = stat_tap_get_field_data(table, row, kService);
  const OpcodeInfo& opcode = opcode_info(packet.seen.opcode);
  const bool vague = std::strcmp(item->value.string_value, "CNP") == 0 ||
                     std::strcmp(item->value.string_value, "?") == 0;
  if (!vague || !opcode.known() || opcode.service == item->value.string_value) return;
  g_free(const_cast<char*>(item->value.string_value));
  item->value.string_value = g_strdup(opcode.service.data());
  stat_tap_set_field_data(table, row, kService, item);
}

tap_packet_status count(void* user, packet_info*, epan_dissect_t*, const void* data, tap_flags_t) {
  const auto* const stat = static_cast<const stat_data_t*>(user);
  const Tapped& packet = *static_cast<const Tapped*>(data);
  const Record& record = *packet.record;
  stat_tap_table* const table = g_array_index(stat->stat_tap_data->tables, stat_tap_table*, 0);
  std::vector<unsigned>& known = rows()[table];
  if (known.size() <= record.half_flow) known.resize(record.half_flow + 1, kNone);
  unsigned& row = known[record.half_flow];
  if (row == kNone) row = add_row(table, packet);
  correct_service(table, row, packet);

  const bool resent =
      record.packet_class == flow::PacketClass::retransmission || record.repeated_response;
  const bool answers = packet.seen.has(flow::kHasAeth) &&
                       record.packet_class != flow::PacketClass::duplicate_capture;
  const Syndrome syndrome(packet.seen.syndrome());
  add(table, row, kPackets, 1);
  add(table, row, kBytes, packet.seen.wire_size);
  add(table, row, kResent, resent);
  add(table, row, kMissing, record.missing);
  add(table, row, kNaks, answers && syndrome.is_nak());
  add(table, row, kRnrNaks, answers && syndrome.is_rnr_nak());
  add(table, row, kCnps, record.stream == flow::StreamKind::cnp);
  add(table, row, kCeMarks, packet.seen.ecn() == 3);
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_half_flow_table() {
  static stat_tap_table_ui ui = {REGISTER_PACKET_STAT_GROUP_UNSORTED,
                                 kTitle,
                                 "roce",
                                 "roce,qp",
                                 begin,
                                 count,
                                 clear,
                                 release,
                                 nullptr,
                                 g_columns.size(),
                                 g_columns.data(),
                                 0,
                                 nullptr,
                                 nullptr,
                                 0};
  register_stat_tap_table_ui(&ui);
}

}  // namespace dissector
