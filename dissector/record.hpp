// SPDX-License-Identifier: GPL-2.0-or-later
// What is kept of each packet until the file is closed. It is most of the memory that the plugin
// takes, hence the order of its members.

#pragma once

#include "roce/flow/tracker.hpp"
#include "sighting.hpp"

namespace dissector {

/// Which of a record's times and links are there.
enum RecordFlag : uint16_t {
  kHasMessage = 1 << 0,
  kHasOffset = 1 << 1,
  kAckTime = 1 << 2,         // `delay`: from the request to this ACK
  kReadTime = 1 << 3,        // `delay`: from the READ request to its last response
  kNakDelay = 1 << 4,        // `delay`: from the packet `related` to this NAK
  kNakReaction = 1 << 5,     // `delay`: from the NAK `related` to this resend
  kHasCnpInterval = 1 << 6,  // `interval`
  kCeToCnp = 1 << 7,         // `delay`: from the CE mark before this CNP
  kMessageTime = 1 << 8      // `interval`: from the message's first packet to its answer
};

/// One RoCE packet. Frame numbers are 0 where there is none; times are nanoseconds.
struct Record {
  uint64_t delay = 0;
  uint64_t interval = 0;
  uint32_t frame = 0;
  uint32_t half_flow = 0;  // 0: not followed
  uint32_t episode = 0;
  uint32_t missing = 0;            // PSNs that it skipped
  uint32_t message = 0;            // index in the half-flow that asked, from 0
  uint32_t offset = 0;             // in the message, bytes
  uint32_t answer = 0;             // request: answered in; response: answers
  uint32_t related = 0;            //
  uint32_t original = 0;           // the transmission before this one
  uint32_t again = 0;              // the transmission after this one
  uint32_t outstanding = 0;        // request packets without an answer, this one included
  uint32_t outstanding_bytes = 0;  // and their payload
  uint16_t bth_offset = 0;         // in the data source: tells packets of one frame apart
  uint16_t flags = 0;              // RecordFlag
  roce::flow::Verb verb{};         // of the request, or of the one that is answered
  roce::flow::PacketClass packet_class{};
  roce::flow::StreamKind stream{};
  IcrcStatus icrc{};
  bool provisional = false;
  bool repeated_response = false;
};
static_assert(sizeof(Record) <= 80);

}  // namespace dissector
