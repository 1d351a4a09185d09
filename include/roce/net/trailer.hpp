// SPDX-License-Identifier: BSD-3-Clause
// Timestamps that taps and switches put behind an Ethernet frame's packet.
//
// None of the formats but Ixia's marks itself, so one trailer proves nothing: whoever asks has to
// see that many frames agree (the analyzer's trailer clock does).

#pragma once

#include <optional>

#include "roce/wire/bytes.hpp"

namespace roce::net {

enum class TrailerKind : u8 { metamako, exablaze, vss, ixia };
inline constexpr std::array<std::string_view, 4> kTrailerNames = {
    "Metamako (Arista 7130)", "Exablaze (Cisco Nexus 3550)", "VSS Monitoring", "Ixia"};

namespace detail {

inline u32 trailer_word(Bytes trailer, std::size_t at) {
  be32 value;
  std::memcpy(&value, trailer.data() + at, sizeof(value));
  return value;
}

inline std::optional<u64> since_epoch(u32 seconds, u64 nanoseconds) {
  if (seconds == 0 || nanoseconds >= 1'000'000'000) return std::nullopt;
  return u64{seconds} * 1'000'000'000 + nanoseconds;
}

// Original FCS:32 seconds:32 nanoseconds:32 flags:8 device:16 port:8.
inline std::optional<u64> metamako_time(Bytes trailer) {
  return since_epoch(trailer_word(trailer, 4), trailer_word(trailer, 8));
}

// Original FCS:32 device:8 port:8 seconds:32 fraction of a second:40 reserved:8.
inline std::optional<u64> exablaze_time(Bytes trailer) {
  const u64 fraction = u64{trailer_word(trailer, 10)} << 8 | trailer[14];
  return since_epoch(trailer_word(trailer, 6), (fraction >> 8) * 1'000'000'000 >> 32);
}

// Seconds:32 clock source:2 nanoseconds:30, and a port number of no, one or two bytes.
inline std::optional<u64> vss_time(Bytes trailer) {
  return since_epoch(trailer_word(trailer, 0), trailer_word(trailer, 4) & 0x3fff'ffff);
}

// Clock source:8 length:8 seconds:32 nanoseconds:32 trailer length:8 0xaf12 checksum:16.
inline std::optional<u64> ixia_time(Bytes trailer) {
  if (trailer[1] != 8 || trailer[10] != 10 || trailer[11] != 0xaf || trailer[12] != 0x12)
    return std::nullopt;
  return since_epoch(trailer_word(trailer, 2), trailer_word(trailer, 6));
}

}  // namespace detail

/// What follows the IP packet of an Ethernet frame (with any 802.1Q or 802.1ad tags); empty if
/// nothing does, or if the frame holds no IP. `frame` is the whole frame, as it was on the wire.
inline Bytes trailer_of(Bytes frame) {
  constexpr std::size_t kTypeAt = 12, kTag = 4;
  const auto half = [&](std::size_t at) { return u32{frame[at]} << 8 | frame[at + 1]; };
  std::size_t at = kTypeAt;
  while (frame.size() >= at + 2 && (half(at) == 0x8100 || half(at) == 0x88a8)) at += kTag;
  if (frame.size() < at + 8) return {};
  const std::size_t ip = at + 2;
  std::size_t end = 0;
  if (half(at) == 0x0800) end = ip + half(ip + 2);
  if (half(at) == 0x86dd) end = ip + 40 + half(ip + 4);
  return end > ip && end < frame.size() ? frame.subspan(end) : Bytes{};
}

/// The time, nanoseconds since the epoch, if `trailer` can be one of that kind; an FCS may follow
/// it. Layouts as Wireshark's dissectors of the same names know them.
inline std::optional<u64> trailer_time(TrailerKind kind, Bytes trailer) {
  constexpr std::size_t kFcs = 4;
  const auto last = [&](std::size_t size, auto read) -> std::optional<u64> {
    if (trailer.size() == size + kFcs) return read(trailer.first(size));
    return trailer.size() == size ? read(trailer) : std::nullopt;
  };
  switch (kind) {
    case TrailerKind::metamako: return last(16, detail::metamako_time);
    case TrailerKind::exablaze: return last(16, detail::exablaze_time);
    case TrailerKind::ixia: return last(15, detail::ixia_time);
    case TrailerKind::vss: break;
  }
  const bool fits = trailer.size() >= 8 && trailer.size() <= 14 && trailer.size() % 4 != 3;
  return fits ? detail::vss_time(trailer) : std::nullopt;
}

}  // namespace roce::net
