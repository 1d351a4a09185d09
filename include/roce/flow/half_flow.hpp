// SPDX-License-Identifier: BSD-3-Clause
// One direction to one QP: what was seen of it, and its streams.

#pragma once

#include "roce/flow/flow_key.hpp"
#include "roce/flow/histogram.hpp"
#include "roce/flow/request_stream.hpp"
#include "roce/flow/response_stream.hpp"

namespace roce::flow {

/// How often each of a few values occurred. The last value costs no search.
template <class T, std::size_t N>
class Tally {
 public:
  struct Entry {
    T value{};
    u64 count = 0;
  };
  void add(T value) {
    if (size_ > 0 && entries_[last_].value == value) [[likely]] {
      entries_[last_].count++;
      return;
    }
    for (u8 i = 0; i < size_; i++)
      if (entries_[i].value == value) {
        last_ = i;
        entries_[i].count++;
        return;
      }
    if (size_ == N) {
      more_++;
      return;
    }
    last_ = size_++;
    entries_[last_] = {value, 1};
  }
  const Entry* begin() const { return entries_.data(); }
  const Entry* end() const { return entries_.data() + size_; }
  bool empty() const { return size_ == 0; }
  /// Occurrences of further values, of which there was no room to keep count.
  u64 more() const { return more_; }

 private:
  std::array<Entry, N> entries_{};
  u64 more_ = 0;
  u8 size_ = 0;
  u8 last_ = 0;
};

/// CNPs towards the QP of this half-flow, and the CE marks that call for them.
struct CnpState {
  u64 last_time = 0;
  std::unique_ptr<Histogram> intervals;  // nanoseconds
};

struct HalfFlow {
  HalfFlowKey key;
  u32 id = 0;
  u32 partner = 0;     // id of the other half-flow; 0 unknown
  u32 connection = 0;  // id; 0 none

  // Pairing, while there is no partner.
  u32 candidate = 0;
  u32 unpaired_requests = 0;

  u16 path_mtu = 0;          // bytes; 0 unknown
  u8 service = 0;            // Service of the first packet
  u8 mtu_candidates = 0x1f;  // bit i: 256 << i fits all READs so far
  bool responses_seen = false;

  u64 last_time = 0;
  u64 last_frame = 0;
  u64 packets = 0;
  u64 wire_bytes = 0;        // whole frames
  u64 payload_bytes = 0;     // RoCE payload, padding left out
  std::array<u64, 4> ecn{};  // by codepoint

  RequestStream requests;
  Messages messages;
  Psn dirty_until;  // PSNs before it were sent twice: no latency samples
  bool dirty = false;
  Psn open_read;  // a READ whose width is not known yet
  u32 open_read_length = 0;

  ResponseStream responses;

  u64 first_time = 0;
  u64 first_frame = 0;
  u64 last_ce_time = 0;
  u64 ces_since_cnp = 0;
  u64 cnp_packets = 0;
  CnpState cnp;
  Tally<u8, 6> dscp;
  Tally<u16, 4> vlans;  // TCI
  Tally<u16, 6> source_ports;
  u64 icrc_good = 0, icrc_bad = 0, icrc_not_captured = 0;
  Psn last_request_psn;
};

}  // namespace roce::flow
