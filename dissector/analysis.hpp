// SPDX-License-Identifier: GPL-2.0-or-later
// What the packets of one capture file are to each other. Packets are looked at once, in order, on
// Wireshark's first pass; what is found is kept as one Record each. Much of a record is only known
// later (what a packet was acknowledged by, why it was sent again), so it is complete on the second
// pass: with `tshark -2`, and always in Wireshark.

#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "waiting.hpp"

namespace dissector {

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
  /// What is remembered of a half-flow beside the tracker.
  struct Notes {
    WaitingList waiting;
    std::vector<uint32_t> messages;  // lengths in bytes, 0 unknown
    bool message_open = false;
    bool offset_known = false;
    uint32_t offset = 0;
    uint64_t message_time = 0;  // of its first packet; 0 unknown
    uint32_t resent_message = kNoMessage;
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
  static void place_in_earlier_message(const Sighted& sighted, Record& record, Notes& notes);
  void wait_for_answer(const Sighted& sighted, Record& record, Notes& notes) const;
  static void observe_read_response(const Sighted& sighted, Record& record,
                                    const roce::flow::HalfFlow& own, Notes& asker);
  static void observe_nak(const Sighted& sighted, Record& record, Notes& asker);
  static void observe_ack(const Sighted& sighted, Record& record, Notes& asker);
  static bool answer_before(Notes& asker, roce::Psn psn, uint32_t frame);
  static void finish_message(const Waiting& last, uint64_t time, Record& record,
                             const Notes& asker);

  roce::net::AddressTable addresses_;
  roce::flow::Tracker tracker_;
  std::deque<Record> records_;
  std::vector<Notes> notes_;  // by half-flow
  std::vector<Verdict> episodes_;
  std::size_t last_found_ = 0;
  uint32_t streams_ = 0;
};

}  // namespace dissector
