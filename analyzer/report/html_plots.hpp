// SPDX-License-Identifier: BSD-3-Clause
// What the page plots: counts over time of the whole trace, and the story of some connections.
//
// Memory is bounded: everything is binned over the lifetime of what it is of, and of each bin only
// a few packets and events keep their exact time.

#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "report/event.hpp"
#include "report/report.hpp"

namespace rocetrace {

/// A stretch of time cut into equal bins.
class BinAxis {
 public:
  static constexpr std::size_t kBins = 400;

  BinAxis() = default;
  /// From `begin` to `end`, both nanoseconds. A bin is a microsecond at least: shorter ones make
  /// rates of single packets.
  BinAxis(u64 begin, u64 end)
      : begin_{begin}, width_{std::max<u64>((end - std::min(begin, end)) / kBins + 1, 1000)} {}
  std::size_t bin(u64 time) const {
    const u64 at = (time - std::min(begin_, time)) / width_;
    return std::min<u64>(at, kBins - 1);
  }
  u64 begin() const { return begin_; }
  u64 width() const { return width_; }  // of a bin, nanoseconds

 private:
  u64 begin_ = 0;
  u64 width_ = 1;
};

using Bins = std::array<u64, BinAxis::kBins>;

/// Counts per bin of one direction, or of the whole trace.
struct BinCounts {
  Bins wire_bytes{};
  Bins good_bytes{};  // payload that was not there before
  Bins retransmissions{};
  Bins ce{};
  Bins cnps{};
  Bins rnr_naks{};
  Bins naks{};

  void add(const Moment& moment, std::size_t bin);
};

/// A packet's place in the plot of PSNs, unwrapped so that it never jumps back over 2^24.
struct PsnPoint {
  u64 time = 0;
  i64 psn = 0;
};

/// What the markers of the PSN plot stand for.
enum class Mark : u8 { gap, retransmission, nak, rnr_nak, cnp, ce, reordered };
inline constexpr std::array<Word, 7> kMarks = {"gap", "retransmission", "nak", "rnr_nak", "cnp",
                                               "ce",  "reordered"};

struct MarkPoint {
  PsnPoint at;
  u64 frame = 0;
  u64 count = 1;  // of marks that this one stands for
  u64 missing = 0;
  Mark mark{};
  Word note{};   // cause of a retransmission; syndrome of a NAK
  Word place{};  // of a retransmission
};

/// The requests of one direction, and what the other one answered. One PsnStory takes moments in
/// the order of the trace; every `bin` is the one of the moment's time.
class PsnStory {
 public:
  void request(const Moment& moment, std::size_t bin, u32 path_mtu);
  /// A response, or a CNP, that came back.
  void answer(const Moment& moment, std::size_t bin);

  std::vector<PsnPoint> sent;      // requests, without those sent again: two per bin
  std::vector<PsnPoint> close_up;  // more of them around events
  std::vector<PsnPoint> answered;  // acknowledged, or responded to: two per bin
  std::vector<MarkPoint> marks;
  Bins outstanding{};  // most PSNs sent and not answered
  Bins latency_sum{}, latency_count{}, latency_max{}, latency_min{};  // nanoseconds

 private:
  void note_answer(const Moment& moment, std::size_t bin);
  i64 unwrapped(u32 psn);
  void send(PsnPoint point, std::size_t bin);
  void mark(MarkPoint point, std::size_t bin);
  void keep_close(PsnPoint point, std::size_t bin);

  bool started_ = false;
  i64 last_ = 0;     // unwrapped, the latest
  i64 highest_ = 0;  // that was asked for
  i64 acked_ = 0;    // highest answered
  struct InBin {     // how many of something are in the bin that was touched last
    std::size_t bin = ~std::size_t{0};
    std::size_t count = 0;
    std::size_t more(std::size_t now);
  };
  std::array<InBin, kMarks.size()> marks_in_bin_{};
  InBin sent_in_bin_, answered_in_bin_, close_in_bin_;
  static constexpr std::size_t kContext = 8;     // packets before and after an event
  std::array<PsnPoint, kContext> before_{};      // a ring
  std::size_t before_size_ = 0, before_at_ = 0;  //
  std::size_t after_ = 0;
};

/// One plotted connection. Side 0 is the half-flow seen first.
struct ConnectionPlot {
  ConnectionRow connection;  // id 0 when there is none
  std::array<std::optional<HalfFlowRow>, 2> half_flows;
  BinAxis axis;
  std::array<BinCounts, 2> counts;
  std::array<PsnStory, 2> stories;
};

class Plots {
 public:
  /// Chooses the connections that findings are about, then the worst, then the largest.
  explicit Plots(const Report& report);

  void add(const Moment& moment);

  const BinAxis& axis() const { return axis_; }
  const BinCounts& trace() const { return trace_; }
  const Bins& pauses() const { return pauses_; }
  const std::vector<ConnectionPlot>& connections() const { return connections_; }

 private:
  static constexpr std::size_t kConnections = 16;

  void select(const Report& report);
  void choose(const Report& report);
  void plot(const Report& report, u64 half_flow, const std::map<u64, ConnectionRow>& connections);

  std::vector<bool> selected_;  // by id of the half-flow; empty when all are
  BinAxis axis_;
  BinCounts trace_;
  Bins pauses_{};
  std::vector<ConnectionPlot> connections_;
  struct Where {
    std::size_t connection = 0;
    std::size_t side = 0;
  };
  std::unordered_map<u64, Where> where_;  // by id of the half-flow
};

/// From the first to the last frame of all captures.
BinAxis trace_axis(const Report& report);

}  // namespace rocetrace
