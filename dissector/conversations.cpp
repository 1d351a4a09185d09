// SPDX-License-Identifier: GPL-2.0-or-later
// Conversations and endpoints, whose ports are QPs, and the filter for the connection of a packet.

#include "file.hpp"
#include "plugin.hpp"
#include "statistics.hpp"
#include "tap.hpp"

namespace dissector {
namespace {

const char* address_filter(const address& of, const char* ipv4, const char* ipv6) {
  return of.type == AT_IPv6 ? ipv6 : ipv4;
}

const char* conversation_field(conv_item_t* item, conv_filter_type_e wanted) {
  static const address none = ADDRESS_INIT_NONE;
  const address& source = item ? item->src_address : none;
  switch (wanted) {
    case CONV_FT_SRC_ADDRESS: return address_filter(source, "ip.src", "ipv6.src");
    case CONV_FT_DST_ADDRESS: return address_filter(source, "ip.dst", "ipv6.dst");
    case CONV_FT_ANY_ADDRESS: return address_filter(source, "ip.addr", "ipv6.addr");
    case CONV_FT_SRC_PORT: return "roce.srcqp";
    case CONV_FT_DST_PORT: return "roce.bth.destqp";
    case CONV_FT_ANY_PORT: return "roce.qp";
    default: return CONV_FILTER_INVALID;
  }
}

const char* endpoint_field(endpoint_item_t* item, conv_filter_type_e wanted) {
  static const address none = ADDRESS_INIT_NONE;
  const address& own = item ? item->myaddress : none;
  switch (wanted) {
    case CONV_FT_SRC_ADDRESS: return address_filter(own, "ip.src", "ipv6.src");
    case CONV_FT_DST_ADDRESS: return address_filter(own, "ip.dst", "ipv6.dst");
    case CONV_FT_ANY_ADDRESS: return address_filter(own, "ip.addr", "ipv6.addr");
    case CONV_FT_SRC_PORT: return "roce.srcqp";
    case CONV_FT_DST_PORT: return "roce.bth.destqp";
    case CONV_FT_ANY_PORT: return "roce.qp";
    default: return CONV_FILTER_INVALID;
  }
}

ct_dissector_info_t g_conversation_fields = {conversation_field};
et_dissector_info_t g_endpoint_fields = {endpoint_field};

tap_packet_status add_conversation(void* user, packet_info* pinfo, epan_dissect_t*,
                                   const void* data, tap_flags_t flags) {
  auto* const table = static_cast<conv_hash_t*>(user);
  const Tapped& packet = *static_cast<const Tapped*>(data);
  table->flags = flags;
  add_conversation_table_data(table, &packet.source, &packet.destination, packet.source_qp,
                              packet.seen.dest_qp, 1, static_cast<int>(packet.seen.wire_size),
                              &pinfo->rel_ts, &pinfo->abs_ts, &g_conversation_fields,
                              CONVERSATION_IBQP);
  return TAP_PACKET_REDRAW;
}

tap_packet_status add_endpoints(void* user, packet_info*, epan_dissect_t*, const void* data,
                                tap_flags_t flags) {
  auto* const table = static_cast<conv_hash_t*>(user);
  const Tapped& packet = *static_cast<const Tapped*>(data);
  const auto size = static_cast<int>(packet.seen.wire_size);
  table->flags = flags;
  add_endpoint_table_data(table, &packet.source, packet.source_qp, TRUE, 1, size,
                          &g_endpoint_fields, ENDPOINT_IBQP);
  add_endpoint_table_data(table, &packet.destination, packet.seen.dest_qp, FALSE, 1, size,
                          &g_endpoint_fields, ENDPOINT_IBQP);
  return TAP_PACKET_REDRAW;
}

const Record* followed(const packet_info* pinfo) {
  const Record* const record = has_file() ? file().find_first(pinfo->num) : nullptr;
  return record && record->half_flow != 0 ? record : nullptr;
}

Bool has_stream(packet_info* pinfo WS_USER_DATA) {
  return followed(pinfo) != nullptr;
}

char* stream_filter(packet_info* pinfo WS_USER_DATA) {
  const Record* const record = followed(pinfo);
  return record ? g_strdup_printf("roce.stream eq %u", file().stream(*record)) : nullptr;
}

}  // namespace

void register_conversations(int proto) {
  register_conversation_table(proto, FALSE, add_conversation, add_endpoints);
  register_conversation_filter("roce", "RoCE stream", has_stream, stream_filter WS_NO_USER_DATA);
}

}  // namespace dissector
