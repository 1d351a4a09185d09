// SPDX-License-Identifier: GPL-2.0-or-later
// How long messages take, by verb: -z roce,srt. From a message's first packet to the answer that
// completes it; messages of which anything was sent twice are left out.

#include <array>

#include "statistics.hpp"
#include "tap.hpp"

namespace dissector {
namespace {

constexpr std::array<const char*, roce::flow::kVerbCount> kVerbs = {
    "SEND", "RDMA WRITE", "RDMA READ", "ATOMIC", "FLUSH", "ATOMIC WRITE"};

void begin(struct register_srt*, GArray* tables) {
  srt_stat_table* const table =
      init_srt_table("RoCE message time", "Message time", tables, static_cast<int>(kVerbs.size()),
                     "Verb", nullptr, nullptr);
  for (std::size_t i = 0; i < kVerbs.size(); i++) {
    init_srt_table_row(table, static_cast<int>(i), kVerbs[i]);
  }
}

tap_packet_status add(void* user, packet_info* pinfo, epan_dissect_t*, const void* data,
                      tap_flags_t) {
  const Record& record = *static_cast<const Tapped*>(data)->record;
  if (!(record.flags & kMessageTime)) return TAP_PACKET_DONT_REDRAW;
  const auto* const srt = static_cast<const srt_data_t*>(user);
  srt_stat_table* const table = g_array_index(srt->srt_array, srt_stat_table*, 0);
  nstime_t took, asked;
  took.secs = static_cast<time_t>(record.interval / 1'000'000'000u);
  took.nsecs = static_cast<int>(record.interval % 1'000'000'000u);
  nstime_delta(&asked, &pinfo->abs_ts, &took);
  add_srt_table_data(table, static_cast<int>(record.verb), &asked, pinfo);
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_response_times(int proto) {
  register_srt_table(proto, "roce", 1, add, begin, nullptr);
}

}  // namespace dissector
