// SPDX-License-Identifier: BSD-3-Clause
// What an AETH's syndrome byte says: ACK, RNR NAK or NAK, and its code (IBTA 9.7.5.2).

#pragma once

#include <string_view>

#include "roce/wire/bytes.hpp"

namespace roce {

/// Codes of a NAK; other values up to 31 are reserved.
enum class NakCode : u8 {
  sequence = 0,            // PSN sequence error
  invalid_request = 1,     //
  remote_access = 2,       // access error
  remote_operational = 3,  // operational error
  invalid_rd_request = 4,  //
};

/// RNR NAK timer values in nanoseconds, by code (IBTA table 45). Code 0 is the longest.
inline constexpr std::array<u32, 32> kRnrTimerNs = {
    655'360'000, 10'000,      20'000,      30'000,     40'000,     60'000,     80'000,
    120'000,     160'000,     240'000,     320'000,    480'000,    640'000,    960'000,
    1'280'000,   1'920'000,   2'560'000,   3'840'000,  5'120'000,  7'680'000,  10'240'000,
    15'360'000,  20'480'000,  30'720'000,  40'960'000, 61'440'000, 81'920'000, 122'880'000,
    163'840'000, 245'760'000, 327'680'000, 491'520'000};
static_assert(kRnrTimerNs[1] == 10'000 && kRnrTimerNs[14] == 1'280'000 &&
              kRnrTimerNs[31] == 491'520'000);

/// The syndrome byte of an AETH.
class Syndrome {
 public:
  constexpr explicit Syndrome(u8 byte) : byte_(byte) {}

  constexpr bool is_ack() const { return kind() == 0; }
  constexpr bool is_rnr_nak() const { return kind() == 1; }
  constexpr bool is_nak() const { return kind() == 3; }

  /// Of an ACK: end-to-end flow control credits, encoded (IBTA table 44); 31 says none are kept.
  constexpr u8 credit_count() const { return byte_ & 0x1f; }
  /// Of a NAK. May be a reserved value.
  constexpr NakCode nak_code() const { return static_cast<NakCode>(byte_ & 0x1f); }
  /// Of an RNR NAK: how long the requester shall wait, nanoseconds.
  constexpr u32 rnr_timer_ns() const { return kRnrTimerNs[byte_ & 0x1f]; }

  constexpr u8 value() const { return byte_; }
  constexpr bool operator==(const Syndrome&) const = default;

 private:
  constexpr u8 kind() const { return byte_ >> 5 & 3; }
  u8 byte_;
};

/// The name of a NAK code, as an identifier; empty for a reserved one.
constexpr std::string_view nak_name(NakCode code) {
  switch (code) {
    case NakCode::sequence: return "sequence";
    case NakCode::invalid_request: return "invalid_request";
    case NakCode::remote_access: return "remote_access";
    case NakCode::remote_operational: return "remote_operational";
    case NakCode::invalid_rd_request: return "invalid_rd_request";
  }
  return {};
}

/// The name of a NAK code, in the specification's words; empty for a reserved one.
constexpr std::string_view nak_text(NakCode code) {
  switch (code) {
    case NakCode::sequence: return "PSN sequence error";
    case NakCode::invalid_request: return "invalid request";
    case NakCode::remote_access: return "remote access error";
    case NakCode::remote_operational: return "remote operational error";
    case NakCode::invalid_rd_request: return "invalid RD request";
  }
  return {};
}

static_assert(Syndrome(0x1f).is_ack() && Syndrome(0x60).is_nak() && Syndrome(0x2c).is_rnr_nak());
static_assert(Syndrome(0x2c).rnr_timer_ns() == 640'000);

}  // namespace roce
