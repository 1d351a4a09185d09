// SPDX-License-Identifier: GPL-2.0-or-later
// Follow RoCE stream: the payload of one connection in PSN order, everything once:
// -z follow,roce,ascii,N.
//
// A connection has up to four sequences: the SENDs and WRITEs of either side, and the READ
// responses of either side. Each is in its own order; among each other they stay as they came.

#include "file.hpp"
#include "plugin.hpp"
#include "statistics.hpp"
#include "tap.hpp"

namespace dissector {
namespace {

using namespace roce;

char* filter_of_packet(epan_dissect_t*, packet_info* pinfo, unsigned* stream, unsigned*) {
  const Record* const record = has_file() ? file().find_first(pinfo->num) : nullptr;
  if (!record || record->half_flow == 0) return nullptr;
  *stream = file().stream(*record);
  return g_strdup_printf("roce.stream eq %u", *stream);
}

char* filter_of_index(unsigned stream, unsigned) {
  return g_strdup_printf("roce.stream eq %u", stream);
}

char* filter_of_addresses(address* source, address* destination, int source_qp, int dest_qp) {
  char* const from = address_to_str(nullptr, source);
  char* const to = address_to_str(nullptr, destination);
  const char* const field = source->type == AT_IPv6 ? "ipv6.addr" : "ip.addr";
  char* const filter = g_strdup_printf("%s == %s && %s == %s && roce.qp == %d && roce.qp == %d",
                                       field, from, field, to, source_qp, dest_qp);
  wmem_free(nullptr, from);
  wmem_free(nullptr, to);
  return filter;
}

char* text_of_qp(wmem_allocator_t* pool, unsigned qp) {
  return wmem_strdup_printf(pool, "QP 0x%06x", qp);
}

uint32_t count_streams() {
  return has_file() ? file().streams() : 0;
}

/// A record's `seq` holds its sequence in the high bits, and its PSN.
constexpr uint32_t sequence_of(bool is_response, u32 psn) {
  return uint32_t{is_response} << 24 | psn;
}

/// Where in the list, latest first, a packet belongs: before the returned element, or at the end.
/// `repeated` says that its PSN is there already.
GList* place_of(GList* list, bool is_server, uint32_t sequence, bool& repeated) {
  // So many records of its sequence are looked through for an earlier PSN; what comes later than
  // that is not a packet that was late.
  constexpr int kMostLate = 1 << 16;
  int seen = 0;
  GList* place = list;
  for (GList* at = list; at && seen < kMostLate; at = at->next) {
    const auto& other = *static_cast<const follow_record_t*>(at->data);
    if (bool(other.is_server) != is_server || other.seq >> 24 != sequence >> 24) continue;
    seen++;
    const i32 later = distance(Psn(other.seq), Psn(sequence));
    if (later == 0) repeated = true;
    if (later >= 0) break;
    place = at->next;  // it is earlier than this one
  }
  return place;
}

tap_packet_status add(void* user, packet_info* pinfo, epan_dissect_t*, const void* data,
                      tap_flags_t) {
  auto* const follow = static_cast<follow_info_t*>(user);
  const Tapped& packet = *static_cast<const Tapped*>(data);
  const Record& record = *packet.record;
  const bool is_response = record.stream == flow::StreamKind::response;
  if (!is_response && record.stream != flow::StreamKind::request) return TAP_PACKET_DONT_REDRAW;
  if (packet.payload.empty()) return TAP_PACKET_DONT_REDRAW;

  // The side that is seen first is the client; its half-flow is kept where TCP keeps its sequence.
  if (follow->seq[0] == 0) {
    follow->seq[0] = record.half_flow;
    follow->client_port = packet.source_qp;
    follow->server_port = packet.seen.dest_qp;
    copy_address(&follow->client_ip, &packet.source);
    copy_address(&follow->server_ip, &packet.destination);
  }
  const bool is_server = record.half_flow != follow->seq[0];
  if (follow->client_port == 0) {
    follow->client_port = is_server ? packet.seen.dest_qp : packet.source_qp;
  }
  const uint32_t sequence = sequence_of(is_response, packet.seen.psn);
  bool repeated = false;
  GList* const place = place_of(follow->payload, is_server, sequence, repeated);
  // Datagrams all stand for themselves.
  const bool sequenced = flow::kTraits[packet.seen.opcode].is(flow::kSequenced);
  if (repeated && sequenced) return TAP_PACKET_DONT_REDRAW;

  auto* const entry = g_new0(follow_record_t, 1);
  const auto size = static_cast<unsigned>(packet.payload.size());
  entry->is_server = is_server;
  entry->packet_num = record.frame;
  entry->abs_ts = pinfo->abs_ts;
  entry->seq = sequence;
  entry->data = g_byte_array_append(g_byte_array_sized_new(size), packet.payload.data(), size);
  follow->bytes_written[is_server] += size;
  follow->payload = sequenced ? g_list_insert_before(follow->payload, place, entry)
                              : g_list_prepend(follow->payload, entry);
  return TAP_PACKET_DONT_REDRAW;
}

}  // namespace

void register_follow_stream(int proto) {
  register_follow(proto, "roce_follow", filter_of_packet, filter_of_index, filter_of_addresses,
                  text_of_qp, add, count_streams);
}

}  // namespace dissector
