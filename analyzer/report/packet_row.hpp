// SPDX-License-Identifier: BSD-3-Clause
// One line of the packet listing, and its writers.

#pragma once

#include <optional>
#include <string_view>

#include "report/report.hpp"

namespace rocetrace {

class Sink;

/// Text is borrowed for the call that writes the row. An empty Word or optional is not written.
struct PacketRow {
  u64 frame = 0;
  Time time;
  std::string_view source;
  std::string_view destination;
  std::optional<u16> source_port;  // UDP; RoCEv2
  u32 dest_qp = 0;
  Word opcode;  // RC SEND First, ...; empty for an unknown one
  u8 opcode_number = 0;
  u32 psn = 0;
  bool ack_req = false;
  u32 payload_bytes = 0;
  u8 ecn = 0;                    // the field's value, 0..3
  u8 dscp = 0;                   //
  std::optional<u64> half_flow;  // id; empty beyond --max-flows
  Word packet_class;             // first, in_order, gap, retransmission, ...
  Word cause;
  Word place;
  Word syndrome;           // ack, nak_sequence, rnr_nak, ...
  std::optional<u32> msn;  // with a syndrome
  Word icrc;               // good, bad, not_captured
};

/// How `packets` prints: one of kPacketFormats.
struct PacketFormat {
  std::string_view name;
  void (*begin)(Sink& out);  // what comes before the first row
  void (*row)(const PacketRow& row, Sink& out);
};

/// The format of that name, or null.
const PacketFormat* packet_format(std::string_view name);

}  // namespace rocetrace
