// SPDX-License-Identifier: BSD-3-Clause
// Traces that hold the same packets from two taps.
//
// A packet that passes two taps is in the trace twice, and each tap has its own clock: what came
// first cannot be told, and a lost packet of the one looks like a late packet of the other. So a
// pair of hosts is judged by one tap alone, the one that saw most of it.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/frame.hpp"
#include "options.hpp"
#include "roce/flow/observation.hpp"

namespace rocetrace {

/// Where packets come from: a capture file and one of its interfaces.
struct Tap {
  roce::u16 capture = 0;
  roce::u32 interface = 0;
  auto operator<=>(const Tap&) const = default;
};

class Taps {
 public:
  /// Looks into the captures, and through all of them where they do hold packets of two taps. Where
  /// one of them is a pipe, the look is left to mark(). Throws std::runtime_error as Trace does.
  explicit Taps(const Options& options);
  Taps(Taps&&) noexcept;
  ~Taps();

  /// Sets kCopy on packets of `batch` that are judged as another tap saw them. To be given all
  /// batches of the trace in order; addresses must have the ids that a fresh AddressTable gives
  /// them.
  void mark(const FrameBatch& batch, std::span<roce::flow::Observation> packets);

  /// The end of the trace. What a pipe held of two taps is known now: mixed_ns() says so.
  void finish();

  /// What was left out: packets of `tap`, because `kept` shows them too.
  struct Copies {
    Tap tap, kept;
    roce::u64 packets = 0;    // marked so far
    roce::i64 behind_ns = 0;  // of the clock of `kept`, in the median
  };
  const std::vector<Copies>& copies() const { return copies_; }

  /// One capture on one interface, or a pipe, that holds every packet twice: nothing told which tap
  /// a packet comes from. Then this is by how much the two clocks differ, nanoseconds.
  std::optional<roce::u64> mixed_ns() const { return mixed_ns_; }

 private:
  struct Pair {
    std::vector<std::pair<Tap, std::size_t>> left_out;  // with the index into copies_
  };
  struct Survey;
  void conclude(const Survey& survey);
  void decide(const Survey& survey);
  std::size_t copies_of(Tap tap, Tap kept, roce::i64 behind_ns);

  std::unordered_map<roce::u64, Pair> pairs_;  // by host pair
  std::vector<Copies> copies_;
  std::optional<roce::u64> mixed_ns_;
  std::unique_ptr<Survey> meanwhile_;  // the look at a pipe
};

}  // namespace rocetrace
