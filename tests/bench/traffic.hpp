// SPDX-License-Identifier: BSD-3-Clause
// RC connections that send, lose, repeat and slow down, as one tap in the middle of the path sees
// them. Seeded: the same options give the same packets.
//
// Half of the losses lie before the tap, half behind it. Requests are recovered by NAK and
// go-back-N, READ responses by a new READ request for the rest. READ requests and acknowledgements
// are never lost.

#pragma once

#include <vector>

#include "bench/capture_output.hpp"
#include "bench/frame_writer.hpp"

namespace bench {

struct TrafficOptions {
  u32 qps = 64;         // connections, two QPs each
  u32 hosts = 0;        // 0: a number that fits `qps`
  u32 mtu = 1024;       // path MTU, bytes
  u32 burst = 4;        // mean number of packets that a connection sends in a row
  u64 packets = ~0ull;  // stop after so many
  u64 bytes = ~0ull;    // or when the file has reached this size
  u64 seed = 1;
  double loss = 0.0005;  // probabilities per packet
  double ce = 0.01;
  double noise = 0.001;  // ARP and LLDP, per burst
  double v6 = 0.2;       // shares of the connections
  double vlan = 0.3;
};

/// What a reader of the capture must find in it.
struct Truth {
  u64 packets = 0, roce = 0, acks = 0, naks = 0, cnps = 0, ce_marked = 0;
  u64 gaps = 0, missing_psns = 0, retransmissions = 0;  // of request streams
  u64 read_restarts = 0;
};

class Random {
 public:
  explicit Random(u64 seed) : state_(seed) {}

  static constexpr u64 mix(u64 x) {  // the finalizer of SplitMix64
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }
  u64 next() { return mix(state_ += 0x9e3779b97f4a7c15); }
  /// 0 .. n - 1
  u32 below(u32 n) { return static_cast<u32>((next() >> 32) * n >> 32); }
  bool chance(double probability) {
    return static_cast<double>(next() >> 11) < probability * 0x1p53;
  }

 private:
  u64 state_;
};

class Traffic {
 public:
  Traffic(const TrafficOptions& options, FrameWriter& writer, CaptureOutput& output);

  /// Writes packets until the options' limit.
  void run();

  const Truth& truth() const { return truth_; }

 private:
  enum class Verb : u8 { write, write_immediate, send, read, fetch_add };
  struct Message {
    Verb verb;
    u32 packets;    // of its requests, or of its responses for READ
    u32 last_size;  // payload of the last one
  };
  // Where the sender stands: packet `position` of message `message`, at PSN `psn`.
  struct Place {
    u32 psn, message, position;
  };
  struct Connection {
    u32 requester_qp, responder_qp, requester, responder;
    Place next, restart;
    u32 msn;
    u32 read_start;   // position that the running READ request began at, or kNoRead
    u32 tap_expects;  // PSN after the latest request that the tap saw
    u16 source_port;
    u8 countdown;  // packets until a loss shows; 0: nothing is lost
    bool v6 : 1, vlan : 1, tap_started : 1;
  };
  static_assert(sizeof(Connection) == 56);
  static constexpr u32 kNoRead = ~0u;
  enum class Direction : bool { request, response };

  Message message_of(const Connection& at) const;
  void step(Connection& at);
  void request_step(Connection& at, const Message& message);
  void read_step(Connection& at, const Message& message);
  void go_back(Connection& at);
  void advance(Connection& at, const Message& message);
  bool lose(Connection& at);
  void send_request(Connection& at, const Message& message, u8 opcode, Bytes headers, Bytes payload,
                    bool ack_requested, u32 psns);
  void send_ack(const Connection& at, u8 syndrome, u32 psn);
  void send_noise();
  void mark_or_not(Connection& at, Direction direction, FrameSpec& spec);
  void emit(const Connection& at, Direction direction, FrameSpec spec);
  void record(Bytes captured, u32 wire_size);
  Bytes payload(u32 size);
  bool done() const {
    return truth_.packets >= options_.packets || output_.size() >= options_.bytes;
  }

  TrafficOptions options_;
  FrameWriter& writer_;
  CaptureOutput& output_;
  Random random_;
  std::vector<u8> pool_;  // payloads are cut out of it
  std::vector<Connection> connections_;
  u64 time_ = 1'700'000'000'000'000'000;
  u16 ip_id_ = 0;
  Truth truth_;
};

}  // namespace bench
