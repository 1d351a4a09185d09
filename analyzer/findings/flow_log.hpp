// SPDX-License-Identifier: BSD-3-Clause
// When and in which frames something happened to a half-flow: the counts of the tracker with a
// place in the capture. Half-flows to which nothing happens have no log.

#pragma once

#include <memory>

#include "findings/finding.hpp"
#include "roce/flow/tracker.hpp"

namespace rocetrace {

/// What can happen. Of an answer, it happens to the half-flow that carries it.
enum class Happening : u8 {
  gap,
  retransmission,
  reordered,
  duplicate_capture,
  stale,
  response_gap,
  repeated_response,
  sequence_nak,
  invalid_request_nak,
  remote_access_nak,
  remote_operational_nak,
  rnr_nak,
  cnp,
  bad_icrc
};

/// The restarts of a sender at one PSN, one after the other, without progress between them.
struct ResendSeries {
  static constexpr std::size_t kKept = 12;
  u32 psn = 0;
  u32 resends = 0;
  u32 after_rnr_nak = 0;           // of them
  u32 after_sequence_nak = 0;      // of them
  std::array<u64, kKept> times{};  // of the first resends, nanoseconds
  u64 sent_before = 0;             // time of the last packet before the first resend
  u64 last_gap = 0;                // between the last two resends
  u32 wire_size = 0;               // of the packet with that PSN
  Sightings seen;

  std::size_t kept() const { return std::min<std::size_t>(resends, kKept); }
};

/// Packets sent again closely behind each other.
struct Burst {
  u64 packets = 0;
  u64 first_frame = 0, last_frame = 0;
  u64 first_time = 0, last_time = 0;
};

/// What a half-flow sent again.
struct Resending {
  ResendSeries series;   // the latest
  ResendSeries longest;  // the one with the most resends
  Burst burst;           // the latest
  Burst longest_burst;
  u32 bursts = 0;
  u32 last_episode = 0;
};

class FlowLog {
 public:
  /// Sightings of `what`; none when it did not happen.
  const Sightings& of(Happening what) const;
  /// Null when nothing was sent again.
  const Resending* resending() const { return resending_.get(); }
  /// The latest RNR NAK that this half-flow got: its time, 0 for none, and the wait that it asked
  /// for, both in nanoseconds.
  u64 last_rnr_nak() const { return last_rnr_nak_; }
  u64 last_rnr_timer() const { return last_rnr_timer_; }
  u32 last_rnr_psn() const { return last_rnr_psn_; }
  /// Of the sequence NAKs that this half-flow got, those that tell of no loss: the responder had no
  /// buffer for the PSN that they ask for, and dropped what followed. `una` is the oldest PSN
  /// without an answer.
  u64 naks_of_refusal(roce::Psn una) const;

 private:
  friend class FlowLogs;
  Sightings& at(Happening what);
  Resending& resent();
  void note_rnr_nak(const roce::flow::Observation& packet, u64 timer);
  void note_sequence_nak(const roce::flow::Observation& packet);
  void note_restart(u32 psn);

  struct Entry {
    Happening what;
    Sightings seen;
  };
  std::vector<Entry> entries_;  // few of all that can happen do
  std::unique_ptr<Resending> resending_;
  u64 last_rnr_nak_ = 0, last_sequence_nak_ = 0;  // times of those that this half-flow got
  u64 last_rnr_timer_ = 0;
  u32 last_rnr_psn_ = 0;
  bool tried_since_rnr_ = false;
  u64 naks_of_refusal_ = 0;
  u64 doubtful_naks_ = 0;  // for the PSN of the latest RNR NAK, seen after its next try
};

class FlowLogs {
 public:
  /// Takes a packet that was more than in order, and what the tracker said of it.
  void note(const roce::flow::Observation& packet, const roce::flow::Arrival& arrival,
            const roce::flow::Tracker& tracker);

  /// The log of a half-flow; an empty one for a half-flow to which nothing happened.
  const FlowLog& of(u32 half_flow) const;

 private:
  FlowLog& at(u32 half_flow);
  static void note_series(FlowLog& log, const roce::flow::Observation& packet);
  std::vector<std::unique_ptr<FlowLog>> logs_;  // by id
};

}  // namespace rocetrace
