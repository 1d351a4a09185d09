// SPDX-License-Identifier: GPL-2.0-or-later
// The display-filter fields. Those of headers are made from the core's rows; those that exist in no
// header stand in the rows of fields.cpp.

#pragma once

#include <span>
#include <string_view>

#include "roce/wire/headers.hpp"
#include "ws_compat.hpp"

namespace dissector {

/// A field of a header, as registered. Places are in bytes from the start of the header.
struct HeaderField {
  const int* id = nullptr;
  uint16_t offset = 0;
  uint8_t size = 0;  // of the bytes that hold it
  roce::Show show{};
};

struct HeaderFields {
  const char* name = nullptr;
  unsigned size = 0;  // bytes
  std::span<const HeaderField> fields;
};

const HeaderFields& bth_fields();
const HeaderFields& grh_fields();
const HeaderFields& extended_fields(roce::Ext kind);
const HeaderFields& mad_fields();
/// Of a message of kCmMessages, by its index there, from the end of the MAD header.
const HeaderFields& cm_fields(std::size_t index);
const HeaderFields& ip_private_fields();

/// Fields that are computed, or are no part of a fixed header. In the order of their rows.
enum class Own : uint8_t {
  syndrome_type,
  syndrome_credits,
  syndrome_rnr_timer,
  syndrome_nak_code,
  cnp_reserved,
  payload,
  payload_size,
  pad,
  icrc,
  icrc_status,
  icrc_expected,
  stream,
  half_flow,
  source_qp,
  qp,
  message,
  message_offset,
  message_length,
  packet_class,
  provisional,
  cause,
  place,
  episode,
  episode_packets,
  missing,
  acks,
  acked_in,
  ack_rtt,
  read_rtt,
  message_time,
  original,
  resent_in,
  nak_cause,
  nak_delay,
  nak_frame,
  nak_reaction,
  outstanding,
  outstanding_bytes,
  cnp_interval,
  ce_to_cnp,
};
inline constexpr std::size_t kOwnCount = 40;

enum class Tree : uint8_t { packet, grh, bth, extended, syndrome, mad, icrc, analysis };
inline constexpr std::size_t kTreeCount = 8;

enum class Expert : uint8_t {
  truncated,
  unknown_opcode,
  bad_length,
  not_roce,
  icrc_bad,
  cnp,
  nak,
  nak_fatal,
  rnr_nak,
  retransmission,
  gap,
  reordered,
  duplicate_capture,
  stale,
  repeated_response,
};
inline constexpr std::size_t kExpertCount = 15;

int id_of(Own field);
int id_of(Tree tree);
expert_field* id_of(Expert info);

void register_fields(int proto);

}  // namespace dissector
