// SPDX-License-Identifier: BSD-3-Clause
// Bookkeeping of CaptureInfo.

#include "capture/info.hpp"

#include "capture/record_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace rocetrace {
namespace {

struct LinkTypeRow {
  roce::u16 number;
  std::string_view name;
};

// tcpdump.org/linktypes.html: those that can hold RoCE, and those that people try.
constexpr LinkTypeRow kLinkTypes[] = {
    {0, "BSD loopback"},
    {1, "Ethernet"},
    {9, "PPP"},
    {12, "raw IP"},
    {14, "raw IP"},
    {101, "raw IP"},
    {105, "802.11"},
    {108, "OpenBSD loopback"},
    {113, "Linux cooked v1"},
    {127, "802.11 with radiotap"},
    {192, "PPI"},
    {197, "ERF"},
    {220, "USB"},
    {228, "raw IPv4"},
    {229, "raw IPv6"},
    {239, "netfilter log"},
    {247, "InfiniBand"},
    {252, "Wireshark upper PDU"},
    {276, "Linux cooked v2"},
};

void note_odd_time(CaptureInfo& info, roce::u64 previous, roce::u64 time) {
  if (time == previous) {
    ++info.equal_times;
  } else {
    ++info.backward_times;
    info.largest_backward_ns = std::max(info.largest_backward_ns, previous - time);
  }
}

}  // namespace

void note_damage(CaptureInfo& info, roce::u64 offset, roce::u64 skipped, std::string what) {
  ++info.damage_count;
  info.damaged_bytes += skipped;
  if (info.damages.size() < kMaxDamages) info.damages.push_back({offset, skipped, std::move(what)});
}

void note_comment(std::vector<std::string>& comments, roce::Bytes text) {
  if (comments.size() >= kMaxComments) return;
  text = text.first(std::min(text.size(), kMaxTextBytes));
  comments.emplace_back(text.begin(), text.end());
}

void note_interface(CaptureInfo& info, InterfaceInfo interface) {
  if (std::ranges::find(info.link_types, interface.link_type) == info.link_types.end()) {
    info.link_types.push_back(interface.link_type);
  }
  const bool first = info.interfaces.empty();
  info.nanosecond = interface.tick_ns <= 1 && (first || info.nanosecond);
  info.interfaces.push_back(std::move(interface));
}

void account(FrameBatch& batch, CaptureInfo& info) {
  if (batch.empty()) return;
  roce::u64 number = info.packets;
  roce::u64 wire_bytes = 0;
  roce::u64 captured_bytes = 0;
  roce::u64 truncated = 0;
  roce::u64 first = batch.front().time;
  roce::u64 last = first;
  roce::u64 previous = info.packets != 0 ? info.current_time : first - 1;
  for (Frame& frame : batch) {
    frame.number = ++number;
    wire_bytes += frame.wire_size;
    captured_bytes += frame.bytes.size();
    truncated += frame.bytes.size() < frame.wire_size;
    first = std::min(first, frame.time);
    last = std::max(last, frame.time);
    if (frame.time <= previous) [[unlikely]]
      note_odd_time(info, previous, frame.time);
    previous = frame.time;
  }
  info.packets = number;
  info.current_time = previous;
  if (info.interfaces.size() == 1) {
    info.interfaces.front().packets += batch.size();
  } else {
    for (const Frame& frame : batch) ++info.interfaces[frame.interface].packets;
  }
  info.wire_bytes += wire_bytes;
  info.captured_bytes += captured_bytes;
  info.truncated_packets += truncated;
  info.first_time = std::min(info.first_time.value_or(first), first);
  info.last_time = std::max(info.last_time.value_or(last), last);
}

std::string link_type_name(roce::u16 link_type) {
  const auto* const row = std::ranges::find(kLinkTypes, link_type, &LinkTypeRow::number);
  return row != std::end(kLinkTypes) ? std::string(row->name)
                                     : fmt::format("link type {}", link_type);
}

}  // namespace rocetrace
