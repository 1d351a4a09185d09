// SPDX-License-Identifier: BSD-3-Clause
// The pipeline, from capture files to a report.

#pragma once

#include <memory>

#include "options.hpp"
#include "report/report.hpp"

namespace rocetrace {

class Progress;
class Sink;
struct PacketFormat;
struct TraceState;

/// A report, and what its tables are filled from.
struct Analysis {
  Analysis();
  Analysis(Analysis&&) noexcept;
  ~Analysis();

  std::unique_ptr<TraceState> state;
  Report report;
};

/// Reads all captures and judges them. `again`: they will be read a second time (see retell.hpp).
/// Throws std::runtime_error for what cannot be read at all.
Analysis analyze(const Options& options, Progress& progress, bool again = false);

/// Prints one row per RoCE packet to `out`, with its settled class: reads the captures twice.
void list_packets(const Options& options, const PacketFormat& format, Sink& out,
                  Progress& progress);

}  // namespace rocetrace
