// SPDX-License-Identifier: BSD-3-Clause
// One direction to one QP: what was seen of it, and its streams.
//
// Laid out by cache line: a request touches lines 0 to 2, a response lines 0 and 3 (and lines 1 and
// 2 of the half-flow that it answers), the first packet of a message and a whole one line 4 too.
// Whatever most half-flows never need hangs off a pointer.

#pragma once

#include "roce/flow/flow_key.hpp"
#include "roce/flow/histogram.hpp"
#include "roce/flow/messages.hpp"
#include "roce/flow/request_stream.hpp"
#include "roce/flow/response_stream.hpp"
#include "roce/flow/time_bins.hpp"

namespace roce::flow {

/// How often each of a few values occurred.
template <class T, std::size_t N>
class Tally {
 public:
  struct Entry {
    T value{};
    u64 count = 0;
  };
  void add(T value, u64 count) {
    for (u8 i = 0; i < size_; i++)
      if (entries_[i].value == value) {
        entries_[i].count += count;
        return;
      }
    if (size_ == N) {
      more_ += count;
      return;
    }
    entries_[size_++] = {value, count};
  }
  const Entry* begin() const { return entries_.data(); }
  const Entry* end() const { return entries_.data() + size_; }
  /// Occurrences of further values, of which there was no room to keep count.
  u64 more() const { return more_; }

 private:
  std::array<Entry, N> entries_{};
  u64 more_ = 0;
  u8 size_ = 0;
};

/// What the IP and Ethernet headers of a half-flow's packets say: nearly always the same.
struct Marking {
  u16 source_port = 0;
  u16 vlan = 0;
  u8 tos = 2;  // DSCP << 2 | ECN; never CE
  u8 has = 0;  // 1: a VLAN tag, 2: a source port

  static constexpr u8 kVlan = 1, kSourcePort = 2;
  /// A CE mark is no other marking: the codepoint is taken over from `before`.
  static constexpr Marking of(const Observation& packet, Marking before) {
    const u8 tos =
        packet.ecn() == 3 ? static_cast<u8>((packet.tos & 0xfc) | (before.tos & 3)) : packet.tos;
    return {packet.source_port, packet.vlan, tos, has_of(packet)};
  }
  /// Whether `packet` says exactly this, without a CE mark.
  constexpr bool matches(const Observation& packet) const {
    const u32 differs =
        (u32{packet.source_port} | u32{packet.vlan} << 16) ^ (u32{source_port} | u32{vlan} << 16);
    const u32 more = (u32{packet.tos} ^ tos) | (u32{has_of(packet)} ^ has);
    return (differs | more) == 0;
  }
  constexpr bool operator==(const Marking&) const = default;

 private:
  static constexpr u8 has_of(const Observation& packet) {
    static_assert(kHasVlan == kVlan << 10 && kHasSourcePort == kSourcePort << 10);
    return packet.flags >> 10 & (kVlan | kSourcePort);
  }
};

/// Where time went while requests waited and nothing moved.
struct Stalls {
  u32 count = 0;
  u32 ended_by_resend = 0;    // a timeout, or the wait that an RNR NAK asked for
  u32 ended_by_response = 0;  // the responder was slow
  u32 ended_by_request = 0;   // the sender was
  u64 longest = 0;            // nanoseconds
  u64 longest_from = 0;       // time at which it began
  u64 total = 0;              // nanoseconds
};

/// CNPs towards the QP of a half-flow, and what the data rate did.
struct CnpState {
  u64 packets = 0;
  u64 last_time = 0;
  u64 first_time = 0;
  u64 without_ce = 0;        // with no CE mark seen before them
  u64 ces = 0;               // CE marks that preceded CNPs
  u64 bytes_at_last = 0;     // payload sent by the marked sender up to the last CNP
  u64 rate_before_last = 0;  // bytes per second between the two CNPs before
  u32 rate_cut = 0;          // CNPs after which the rate was lower than before
  u32 rate_kept = 0;         // and after which it was not
  Histogram intervals;       // nanoseconds
};

/// How often one end did what the specification does not let it do; and the sizes of its packets.
struct Breaches {
  u32 acks_back = 0;     // an ACK of less than the one before, nothing having been sent again
  u32 naks_back = 0;     // a sequence NAK for what had been acknowledged
  u32 odd_sizes = 0;     // a First or Middle packet that is no path MTU (IBTA 9.4)
  u32 headless = 0;      // a message without a first packet, though none is missing
  u32 read_lengths = 0;  // READs whose answer is not as long as was asked for
  u32 mtu_changes = 0;   // First or Middle packets of another size than those before
  u16 mtu_before = 0;    // bytes, at the latest change
  u16 mtu_now = 0;
  u64 first_frame = 0;  // of any of them
  Psn first_full_size;  // of the connection's first packet of full size, if it is here:
  bool has_full_size = false;

  void note(u32 Breaches::*which, u64 frame) {
    this->*which += 1;
    if (first_frame == 0) first_frame = frame;
  }
};

/// What most half-flows never have.
struct RareState {
  u64 packets_high = 0;       // multiples of 2^32 packets
  std::array<u32, 5> naks{};  // by NakCode
  u64 rnr_naks = 0;
  u64 atomic_acks = 0;
  u32 response_duplicate_captures = 0;
  u64 duplicate_requests = 0;  // requests the responder already had, as it must have seen it
  u64 rnr_wait = 0;            // nanoseconds between RNR NAKs and the resends they caused
  u32 rnr_early = 0;           // resends before the RNR timer had run out
  u32 uc_messages_lost = 0;
  u64 first_nak_frame = 0;  // of a fatal NAK
  u64 icrc_bad = 0;
  u64 first_ce_frame = 0, last_ce_frame = 0;
  u64 first_ce_time = 0;
  CnpState cnp;
  Stalls stalls;
  Breaches breaches;
  Tally<u8, 12> tos;
  Tally<u16, 6> vlans;  // TCI
  Tally<u16, 8> source_ports;
};

struct alignas(64) HalfFlow {
  // Line 0: every packet.
  HalfFlowKey key;
  u32 partner = 0;         // id of the other half-flow; 0 unknown
  Marking marking;         // of the latest packet
  u8 service = 0;          // Service of the first packet that is no CNP
  bool read_open = false;  // the width of the READ `open_read` is not known yet
  u64 last_time = 0;
  u64 last_frame = 0;
  u64 wire_bytes = 0;     // whole frames
  u64 payload_bytes = 0;  // RoCE payload, padding left out
  u32 packets_low = 0;    // modulo 2^32
  u32 last_past = 0;      // its latest packet in the History

  // Line 1: requests.
  RequestStream requests;

  // Line 2: the message that is being sent, and those that wait.
  Message current;
  Messages waiting;
  u16 reads_outstanding = 0, most_reads_outstanding = 0;
  bool sending = false;  // `current` is not whole yet

  // Line 3: responses.
  ResponseStream responses;
  u32 connection = 0;  // id; 0 none

  // Line 4: the first packets of messages, and whole packets.
  alignas(64) std::array<u32, kVerbCount> verbs{};  // messages begun, by verb
  u64 icrc_good = 0;
  std::unique_ptr<RareState> rare_state;
  u32 ce_marked = 0;  // packets; counted apart from `marking`, since they come and go
  u32 ces_since_cnp = 0;
  TimeBins bins;

  // Line 5: now and then.
  alignas(64) u64 first_time = 0;
  u64 first_frame = 0;
  u64 last_ce_time = 0;
  u32 open_read_length = 0;
  Psn open_read;
  u32 marking_since = 0;  // packets_low when `marking` began
  u32 id = 0;
  u32 unpaired_requests = 0;
  u8 mtu_candidates = 0x1f;  // bit i: 256 << i fits all READs so far

  u64 packets() const { return packets_low + (rare_state ? rare_state->packets_high : 0); }
  RareState& rare() {
    if (!rare_state) rare_state = std::make_unique<RareState>();
    return *rare_state;
  }

  /// Counts the packets since `marking` began under it. Before tallies are read, and when another
  /// marking comes.
  void flush_marking() {
    const u32 count = packets_low - marking_since;
    marking_since = packets_low;
    if (count == 0) return;
    rare().tos.add(marking.tos, count);
    if (marking.has & Marking::kVlan) rare().vlans.add(marking.vlan, count);
    if (marking.has & Marking::kSourcePort) rare().source_ports.add(marking.source_port, count);
  }
};
static_assert(sizeof(HalfFlow) == std::size_t{6} * 64);

}  // namespace roce::flow
