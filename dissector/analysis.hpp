// SPDX-License-Identifier: GPL-2.0-or-later
// What the packets of one capture file are to each other. Packets are looked at once, in order, on
// Wireshark's first pass; what is found is kept as one Record each. Much of a record is only known
// later (what a packet was acknowledged by, why it was sent again), so it is complete on the second
// pass: with `tshark -2`, and always in Wireshark.

#pragma once

#include <deque>
#include <optional>
#include <vector>

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

/// Everything known about one capture file.
class Analysis {
 public:
  Analysis() : tracker_(true) { notes_.resize(1); }

  /// Takes a packet of the first pass.
  const Record* observe(Sighted& sighted, IcrcStatus icrc);
  /// The end of the first pass: what is open is settled.
  void finish();
  /// The record of a packet seen before, or null.
  const Record* find(uint32_t frame, std::size_t bth_offset);

  struct Verdict {
    roce::flow::Cause cause{};
    roce::flow::Place place{};
    uint32_t packets = 0;  // sent again in the episode
  };
  Verdict verdict(const Record& record) const;
  /// Number of the connection, from 0. Of followed packets only, as all that comes below.
  uint32_t stream(const Record& record) const { return notes_[record.half_flow].stream; }
  uint32_t streams() const { return streams_; }
  /// Length of the message that the packet belongs to, bytes; 0 unknown.
  uint32_t message_length(const Record& record) const;
  /// Whether the other direction of its connection is known.
  bool paired(const Record& record) const {
    return tracker_.flows().at(record.half_flow).partner != 0;
  }
  const roce::flow::HalfFlow& half_flow(const Record& record) const {
    return tracker_.flows().at(record.half_flow);
  }

  /// The QP that sends what this half-flow carries, where it is known.
  std::optional<uint32_t> source_qp(const Record& record) const;
  /// The first record of a frame, or null.
  const Record* find_first(uint32_t frame) const;

  roce::net::AddressTable& addresses() { return addresses_; }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};

  /// A request packet that has no answer yet.
  struct Waiting {
    roce::Psn psn;
    uint32_t width = 1;  // PSNs; of a READ as many as its responses take
    bool read = false;
    bool ends = false;
    bool sent_twice = false;
    uint32_t payload = 0;
    uint64_t time = 0;
    uint64_t message_time = 0;  // of the first packet of its message; 0 unknown
    Record* record = nullptr;

    bool holds(roce::Psn other) const {
      const int32_t at = roce::distance(psn, other);
      return at >= 0 && static_cast<uint32_t>(at) < width;
    }
  };
  /// What is remembered of a half-flow beside the tracker.
  struct Notes {
    std::vector<Waiting> waiting;  // in PSN order, from `head` on
    std::size_t head = 0;
    uint32_t waiting_bytes = 0;
    std::vector<uint32_t> messages;  // lengths in bytes, 0 unknown
    bool message_open = false;
    bool offset_known = false;
    uint32_t offset = 0;
    uint64_t message_time = 0;  // of its first packet; 0 unknown
    uint32_t resent_message = kNone;
    roce::Psn nak_psn;
    bool nak_pending = false;
    uint32_t nak_frame = 0;
    uint64_t nak_time = 0;
    uint64_t last_cnp = 0;
    uint64_t last_ce = 0;
    uint32_t ces = 0;
    uint32_t stream = 0;
    uint32_t joined_with = 0;  // half-flow
  };

  void number_stream(uint32_t half_flow);
  void settle();
  void observe_request(const Sighted& sighted, Record& record);
  void observe_response(const Sighted& sighted, Record& record);
  void observe_cnp(const Sighted& sighted, Record& record);
  void place_in_message(const Sighted& sighted, Record& record, Notes& notes);
  void wait_for_answer(const Sighted& sighted, Record& record, Notes& notes) const;
  static std::size_t position(const Notes& notes, roce::Psn psn);
  static void finish_message(const Waiting& last, uint64_t time, Record& record,
                             const Notes& asker);
  static bool answer_before(Notes& notes, roce::Psn psn, uint32_t frame);

  roce::net::AddressTable addresses_;
  roce::flow::Tracker tracker_;
  std::deque<Record> records_;
  std::vector<Notes> notes_;  // by half-flow
  std::vector<Verdict> episodes_;
  std::size_t last_found_ = 0;
  uint32_t streams_ = 0;
};

}  // namespace dissector
