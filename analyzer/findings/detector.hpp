// SPDX-License-Identifier: BSD-3-Clause
// Who makes findings: a function that judges the whole trace, or an object that also looked at
// packets on the way.

#pragma once

#include <memory>
#include <optional>

#include "findings/request_ring.hpp"
#include "findings/trace_view.hpp"
#include "roce/net/path.hpp"

namespace rocetrace {

/// One RoCE packet and what the tracker said of it. `bytes` are those of its frame, as captured;
/// they are valid during the call only.
struct Event {
  const roce::flow::Observation& packet;
  const roce::flow::Arrival& arrival;
  const roce::flow::Tracker& tracker;
  roce::Bytes bytes;
  u16 link_type = 1;
  u32 wire_size = 0;
  u16 capture = 0;                              // index of its file
  std::optional<RequestHeader> offending = {};  // of a NAK that ends its queue pair
};

/// A frame that holds no RoCE packet. `at` stands in front of what could not be opened, and `path`
/// is the way there.
struct OtherFrame {
  u64 number = 0;
  u64 time = 0;  // nanoseconds
  u16 capture = 0;
  u32 interface = 0;
  u16 link_type = 1;
  roce::Bytes bytes;  // of the whole frame; valid during the call only
  const roce::net::Path& path;
  const roce::net::Cursor& at;
};

class Detector {
 public:
  Detector() = default;
  Detector(const Detector&) = delete;
  Detector& operator=(const Detector&) = delete;
  virtual ~Detector() = default;

  /// Given the packets of which there is more to say than that they were in order, the first of
  /// each half-flow, and a sample of the others (see is_plain() and kSampling).
  virtual void on_packet(const Event&) {}
  /// Whether on_packet() shall be given all packets for now: asked after every frame.
  virtual bool wants_all() const { return false; }
  /// Given every frame that holds no RoCE packet.
  virtual void on_frame(const OtherFrame&) {}
  /// The end of the trace.
  virtual void on_end(const TraceView& trace, Findings& out) = 0;
};

/// Nothing but in order, or an acknowledgement.
constexpr bool is_plain(const roce::flow::Observation& packet, const roce::flow::Arrival& arrival) {
  using namespace roce::flow;
  const bool ordinary =
      arrival.packet_class == PacketClass::in_order || arrival.packet_class == PacketClass::none;
  constexpr u32 kNak = 0x6000'0000;  // of Observation::aeth: no ACK
  return ordinary && arrival.stream != StreamKind::cnp && arrival.missing == 0 &&
         !arrival.repeated_response && (packet.aeth & kNak) == 0 && !packet.has(kIcrcBad);
}

/// One finding's file: its kinds, and how they are judged. Either `judge` or `make` is set.
struct CatalogEntry {
  std::span<const FindingKind> kinds;
  void (*judge)(const TraceView& trace, Findings& out) = nullptr;
  std::unique_ptr<Detector> (*make)(const Circumstances& circumstances) = nullptr;
};

template <class Made>
std::unique_ptr<Detector> make_detector(const Circumstances& circumstances) {
  if constexpr (std::is_constructible_v<Made, const Circumstances&>) {
    return std::make_unique<Made>(circumstances);
  } else {
    return std::make_unique<Made>();
  }
}

}  // namespace rocetrace
