// SPDX-License-Identifier: GPL-2.0-or-later
// The rows of fields that are in no header's rows, and of expert infos. They are the documentation
// as well: README.md is made from them.

#pragma once

#include "fields.hpp"
#include "words.hpp"

namespace dissector {

struct OwnRow {
  Own field;
  const char* abbrev;
  const char* name;
  ftenum type;
  int display;
  uint64_t mask;
  const char* description;
};

// clang-format off
inline constexpr OwnRow kOwnRows[] = {
    {Own::syndrome_type,      "roce.aeth.type",      "Type",      FT_UINT8, BASE_DEC, 0x60, "Kind of answer: ACK, RNR NAK or NAK"},
    {Own::syndrome_credits,   "roce.aeth.credits",   "Credit count", FT_UINT8, BASE_DEC, 0x1f, "End-to-end credits of an ACK, encoded; 31: none are kept"},
    {Own::syndrome_rnr_timer, "roce.aeth.rnr_timer", "RNR timer", FT_UINT8, BASE_DEC, 0x1f, "How long the requester shall wait after an RNR NAK"},
    {Own::syndrome_nak_code,  "roce.aeth.nak_code",  "NAK code",  FT_UINT8, BASE_DEC, 0x1f, "Why a NAK was sent"},
    {Own::cnp_reserved,       "roce.cnp.reserved",   "Reserved",  FT_BYTES, BASE_NONE, 0, "The 16 reserved bytes of a CNP"},
    {Own::payload,            "roce.payload",        "Payload",   FT_BYTES, BASE_NONE, 0, "Payload as captured, padding left out"},
    {Own::payload_size,       "roce.payload.length", "Payload length", FT_UINT32, BASE_DEC, 0, "Payload on the wire, bytes, padding left out"},
    {Own::pad,                "roce.pad",            "Padding",   FT_BYTES, BASE_NONE, 0, "Pad bytes before the ICRC"},
    {Own::icrc,               "roce.icrc",           "Invariant CRC", FT_UINT32, BASE_HEX, 0, "The ICRC that the packet carries, first byte highest"},
    {Own::icrc_status,        "roce.icrc.status",    "ICRC status", FT_STRING, BASE_NONE, 0, "good, bad, not_captured, or not_checked"},
    {Own::icrc_expected,      "roce.icrc.expected",  "Expected ICRC", FT_UINT32, BASE_HEX, 0, "The ICRC that the packet should carry"},
    {Own::stream,            "roce.stream",                     "Stream index", FT_UINT32, BASE_DEC, 0, "Number of the connection in this file, from 0"},
    {Own::half_flow,         "roce.half_flow",                  "Half-flow", FT_UINT32, BASE_DEC, 0, "Number of the direction to one QP, as rocetrace counts them"},
    {Own::source_qp,         "roce.srcqp",                      "Source QP", FT_UINT24, BASE_HEX, 0, "The QP that sent the packet, from a DETH or from the other direction of its connection"},
    {Own::qp,                "roce.qp",                         "QP", FT_UINT24, BASE_HEX, 0, "Either of the two QPs"},
    {Own::message,           "roce.message",                    "Message", FT_UINT32, BASE_DEC, 0, "Number of the message in its half-flow, from 0; READ responses belong to the READ's"},
    {Own::message_offset,    "roce.message.offset",             "Offset in the message", FT_UINT32, BASE_DEC, 0, "Bytes of the message before this packet's payload"},
    {Own::message_length,    "roce.message.length",             "Message length", FT_UINT32, BASE_DEC, 0, "Bytes of the whole message"},
    {Own::packet_class,      "roce.analysis.class",             "Class", FT_STRING, BASE_NONE, 0, "What the packet was to its PSN sequence: first, in_order, gap, retransmission, reordered, duplicate_capture or stale"},
    {Own::provisional,       "roce.analysis.provisional",       "Class is provisional", FT_BOOLEAN, BASE_NONE, 0, "Later packets may still change the class"},
    {Own::cause,             "roce.analysis.cause",             "Cause", FT_STRING, BASE_NONE, 0, "Why it was sent again: nak_sequence, rnr_nak, implied_nak, selective, timeout or unknown"},
    {Own::place,             "roce.analysis.place",             "Place", FT_STRING, BASE_NONE, 0, "Where the loss was, seen from the capture: downstream, upstream, response, spurious, not_ready or ambiguous"},
    {Own::episode,           "roce.analysis.episode",           "Recovery episode", FT_UINT32, BASE_DEC, 0, "Number of the restart that this resent packet is part of"},
    {Own::episode_packets,   "roce.analysis.episode.packets",   "Packets of the episode", FT_UINT32, BASE_DEC, 0, "Packets that were sent again in this restart"},
    {Own::missing,           "roce.analysis.missing",           "Missing PSNs", FT_UINT32, BASE_DEC, 0, "PSNs between the one expected and this one"},
    {Own::acks,              "roce.analysis.acks",              "Answers the request in", FT_FRAMENUM, BASE_NONE, 0, "The request that this packet answers"},
    {Own::acked_in,          "roce.analysis.acked_in",          "Answered in", FT_FRAMENUM, BASE_NONE, 0, "The ACK, or the last response of a READ, that answers this request"},
    {Own::ack_rtt,           "roce.analysis.ack_rtt",           "ACK round trip", FT_RELATIVE_TIME, BASE_NONE, 0, "Time from the request to this answer; none when any of what it covers was sent twice"},
    {Own::read_rtt,          "roce.analysis.read_rtt",          "READ round trip", FT_RELATIVE_TIME, BASE_NONE, 0, "Time from the READ request to its last response"},
    {Own::message_time,      "roce.analysis.message_time",      "Message time", FT_RELATIVE_TIME, BASE_NONE, 0, "Time from the first packet of the message to the answer that completes it"},
    {Own::original,          "roce.analysis.original",          "Sent before in", FT_FRAMENUM, BASE_NONE, 0, "The transmission of the same PSN before this one"},
    {Own::resent_in,         "roce.analysis.resent_in",         "Sent again in", FT_FRAMENUM, BASE_NONE, 0, "The transmission of the same PSN after this one"},
    {Own::nak_cause,         "roce.analysis.nak_cause",         "Caused by the packet in", FT_FRAMENUM, BASE_NONE, 0, "The packet that made the responder send this NAK, if it got this far"},
    {Own::nak_delay,         "roce.analysis.nak_delay",         "NAK delay", FT_RELATIVE_TIME, BASE_NONE, 0, "Time from that packet to this NAK"},
    {Own::nak_frame,         "roce.analysis.nak_frame",         "Sent because of the NAK in", FT_FRAMENUM, BASE_NONE, 0, "The NAK that asked for this PSN"},
    {Own::nak_reaction,      "roce.analysis.nak_reaction",      "NAK reaction", FT_RELATIVE_TIME, BASE_NONE, 0, "Time from the NAK to this packet, the first one sent again"},
    {Own::outstanding,       "roce.analysis.outstanding",       "Outstanding packets", FT_UINT32, BASE_DEC, 0, "Request packets without an answer, this one included"},
    {Own::outstanding_bytes, "roce.analysis.outstanding_bytes", "Outstanding bytes", FT_UINT32, BASE_DEC, 0, "Payload of the request packets without an answer"},
    {Own::cnp_interval,      "roce.analysis.cnp_interval",      "CNP interval", FT_RELATIVE_TIME, BASE_NONE, 0, "Time since the CNP before it to the same QP"},
    {Own::ce_to_cnp,         "roce.analysis.ce_to_cnp",         "CE to CNP", FT_RELATIVE_TIME, BASE_NONE, 0, "Time from the latest CE-marked packet of the other direction to this CNP"},
};
// clang-format on

inline const void* strings_of(const OwnRow& row) {
  switch (row.field) {
    case Own::syndrome_type: return VALS(kSyndromeTypes);
    case Own::syndrome_rnr_timer: return VALS(rnr_timer_words());
    case Own::syndrome_nak_code: return VALS(nak_code_words());
    case Own::acks: return FRAMENUM_TYPE(FT_FRAMENUM_REQUEST);
    case Own::acked_in: return FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE);
    case Own::original: return FRAMENUM_TYPE(FT_FRAMENUM_RETRANS_PREV);
    case Own::resent_in: return FRAMENUM_TYPE(FT_FRAMENUM_RETRANS_NEXT);
    default: return nullptr;
  }
}

struct ExpertRow {
  Expert info;
  const char* abbrev;
  int group;
  int severity;
  const char* summary;
};

// clang-format off
inline constexpr ExpertRow kExpertRows[] = {
    {Expert::truncated,      "roce.truncated",      PI_UNDECODED, PI_CHAT,  "The capture holds only the start of this packet"},
    {Expert::unknown_opcode, "roce.unknown_opcode", PI_UNDECODED, PI_WARN,  "This opcode is not assigned"},
    {Expert::bad_length,     "roce.bad_length",     PI_PROTOCOL,  PI_WARN,  "The packet is shorter than its opcode and padding need"},
    {Expert::not_roce,       "roce.not_roce",       PI_PROTOCOL,  PI_NOTE,  "Sent to the RoCE port, but it cannot be a RoCE packet"},
    {Expert::icrc_bad,       "roce.icrc.bad",       PI_CHECKSUM,  PI_ERROR, "The ICRC is wrong"},
    {Expert::cnp,            "roce.cnp",            PI_SEQUENCE,  PI_NOTE,  "Congestion notification: the path to here is congested"},
    {Expert::nak,            "roce.nak",            PI_SEQUENCE,  PI_WARN,  "NAK: a packet is missing"},
    {Expert::nak_fatal,      "roce.nak.fatal",      PI_RESPONSE_CODE, PI_ERROR, "NAK: the request failed, and the connection with it"},
    {Expert::rnr_nak,        "roce.rnr_nak",        PI_SEQUENCE,  PI_WARN,  "RNR NAK: the receiver has no buffer"},
    {Expert::retransmission,    "roce.analysis.retransmission",    PI_SEQUENCE, PI_NOTE, "Sent again"},
    {Expert::gap,               "roce.analysis.gap",               PI_SEQUENCE, PI_WARN, "PSNs are missing before this packet"},
    {Expert::reordered,         "roce.analysis.reordered",         PI_SEQUENCE, PI_NOTE, "Came late, but was not sent again"},
    {Expert::duplicate_capture, "roce.analysis.duplicate_capture", PI_SEQUENCE, PI_NOTE, "The same transmission, captured twice"},
    {Expert::stale,             "roce.analysis.stale",             PI_SEQUENCE, PI_WARN, "The PSN is far from what is expected"},
    {Expert::repeated_response, "roce.analysis.repeated_response", PI_SEQUENCE, PI_NOTE, "This response was sent before"},
};
// clang-format on

static_assert([] {
  for (std::size_t i = 0; i < kOwnCount; i++) {
    if (kOwnRows[i].field != static_cast<Own>(i)) return false;
  }
  for (std::size_t i = 0; i < kExpertCount; i++) {
    if (kExpertRows[i].info != static_cast<Expert>(i)) return false;
  }
  return std::size(kOwnRows) == kOwnCount && std::size(kExpertRows) == kExpertCount;
}());

}  // namespace dissector
