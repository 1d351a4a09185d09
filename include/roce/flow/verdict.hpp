// SPDX-License-Identifier: BSD-3-Clause
// What a packet was to its stream: class, cause and place, in the words that reports and display
// filters use.

#pragma once

#include <array>
#include <string_view>

#include "roce/wire/bytes.hpp"

namespace roce::flow {

/// Every request packet of a sequenced service gets one class.
enum class PacketClass : u8 {
  none,  // UD, QP1, CNP, responses
  first,
  in_order,
  gap,
  retransmission,
  reordered,
  duplicate_capture,
  stale
};
inline constexpr std::array<std::string_view, 8> kPacketClassNames = {
    "none",           "first",     "in_order",          "gap",
    "retransmission", "reordered", "duplicate_capture", "stale"};

/// Why a sender sent again.
enum class Cause : u8 { none, nak_sequence, rnr_nak, implied_nak, selective, timeout, unknown };
inline constexpr std::size_t kCauseCount = 7;
inline constexpr std::array<std::string_view, kCauseCount> kCauseNames = {
    "none", "nak_sequence", "rnr_nak", "implied_nak", "selective", "timeout", "unknown"};

/// Where the packet that a recovery episode restarts at was lost, seen from the tap.
enum class Place : u8 { none, downstream, upstream, response, spurious, not_ready, ambiguous };
inline constexpr std::size_t kPlaceCount = 7;
inline constexpr std::array<std::string_view, kPlaceCount> kPlaceNames = {
    "none", "downstream", "upstream", "response", "spurious", "not_ready", "ambiguous"};

constexpr std::string_view name(PacketClass value) {
  return kPacketClassNames[static_cast<std::size_t>(value)];
}
constexpr std::string_view name(Cause value) {
  return kCauseNames[static_cast<std::size_t>(value)];
}
constexpr std::string_view name(Place value) {
  return kPlaceNames[static_cast<std::size_t>(value)];
}

/// Which sequence of its half-flow a packet belongs to.
enum class StreamKind : u8 { other, request, response, cnp };

/// What one packet did to its half-flow, as far as is known when it arrives. A class that later
/// packets can still change is marked `provisional` and comes again as a SettledClass; cause and
/// place come with the SettledEpisode of that number.
struct Arrival {
  u32 flow = 0;     // id of the half-flow, from 1
  u32 episode = 0;  // number of the recovery episode, from 1; 0: part of none
  u32 missing = 0;  // PSNs that this packet skipped
  PacketClass packet_class = PacketClass::none;
  StreamKind stream = StreamKind::other;
  bool provisional = false;
  bool repeated_response = false;  // a READ or atomic response whose PSN was seen before
  u64 answers_frame = 0;           // response: frame of the request packet with its PSN; 0 unknown
  u64 answers_time = 0;            // and its time, nanoseconds
};

/// The final class of a packet whose Arrival was provisional.
struct SettledClass {
  u64 frame = 0;
  PacketClass packet_class = PacketClass::none;
  u32 episode = 0;
};

/// The end of a recovery episode: what made the sender restart, and where the loss was.
struct SettledEpisode {
  u32 number = 0;
  u32 flow = 0;
  u32 restart_psn = 0;
  Cause cause = Cause::none;
  Place place = Place::none;
  u32 packets = 0;     // sent again in it
  u64 start_time = 0;  // of the first packet sent again, nanoseconds
  u64 start_frame = 0;
  u64 silence = 0;    // before it, nanoseconds
  u64 reaction = 0;   // from the NAK or RNR NAK to it, nanoseconds; 0 without one
  u32 rnr_timer = 0;  // that the RNR NAK asked for, nanoseconds
};

}  // namespace roce::flow
