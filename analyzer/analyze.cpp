// SPDX-License-Identifier: BSD-3-Clause
#include "analyze.hpp"

#include "summarize.hpp"
#include "trace_state.hpp"

namespace rocetrace {

Analysis::Analysis() = default;
Analysis::Analysis(Analysis&&) noexcept = default;
Analysis::~Analysis() = default;

Analysis analyze(const Options& options, Progress& progress) {
  Analysis analysis;
  analysis.state = std::make_unique<TraceState>(options);
  analysis.state->run(progress);
  summarize(*analysis.state, options, analysis.report);
  return analysis;
}

}  // namespace rocetrace
