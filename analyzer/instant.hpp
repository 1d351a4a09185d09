// SPDX-License-Identifier: BSD-3-Clause
// A point in time, as users name it on the command line.

#pragma once

#include <optional>
#include <string_view>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

/// An instant of the calendar, or a distance from the first packet of the trace.
struct Instant {
  roce::u64 ns = 0;  // since 1970-01-01 UTC, or since the first packet
  bool from_begin = false;

  constexpr bool operator==(const Instant&) const = default;
  /// In nanoseconds since 1970, for a trace that begins at `begin`.
  constexpr roce::u64 in_trace(roce::u64 begin) const {
    if (!from_begin) return ns;
    return ns > ~roce::u64{0} - begin ? ~roce::u64{0} : begin + ns;
  }
};

/// Reads 2024-05-06T07:08:09.123Z (RFC 3339; the fraction, the time of day and the zone may be left
/// out, the zone is then UTC), 1714979289.5 (seconds since 1970), or +1.5s (ns, us, ms, s, min, h
/// after the first packet). Nothing if it is none of these.
std::optional<Instant> parse_instant(std::string_view text);

}  // namespace rocetrace
