// SPDX-License-Identifier: BSD-3-Clause
// Everybody who looks for findings, led through one trace.

#pragma once

#include "findings/catalog.hpp"

namespace rocetrace {

/// Among plain packets, one of this many is shown to detectors all the same.
inline constexpr std::size_t kSampling = 256;

class Investigation {
 public:
  explicit Investigation(const Circumstances& circumstances);

  /// Takes packets in the order of the trace.
  void on_packet(const Event& event);
  void on_frame(const OtherFrame& frame);
  /// Whether on_packet() shall be given plain packets too.
  bool wants_all() const { return wants_all_; }

  /// What a TraceView refers to.
  const FlowLogs& logs() const { return logs_; }
  const Speakers& speakers() const { return speakers_; }

  /// Judges the whole trace. Findings come most important first.
  Findings conclude(TraceView trace);

 private:
  void ask_again();

  FlowLogs logs_;
  Speakers speakers_;
  bool wants_all_ = false;
  bool pauses_seen_ = false;
  std::vector<std::unique_ptr<Detector>> detectors_;  // one per entry of the catalog, or null
};

}  // namespace rocetrace
