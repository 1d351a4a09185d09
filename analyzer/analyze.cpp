// SPDX-License-Identifier: BSD-3-Clause
#include "analyze.hpp"

#include "capture/standard_input.hpp"
#include "judge.hpp"
#include "summarize.hpp"
#include "trace_state.hpp"

namespace rocetrace {

Analysis::Analysis() = default;
Analysis::Analysis(Analysis&&) noexcept = default;
Analysis::~Analysis() = default;

Analysis analyze(const Options& options, Progress& progress, bool again) {
  if (again) prepare_to_read_twice(options.captures);
  Judge judge(options);
  Analysis analysis;
  analysis.state = std::make_unique<TraceState>(options, again);
  TraceState& state = *analysis.state;
  state.run(progress, [&](auto packets, auto arrivals) { judge.look(state, packets, arrivals); });
  const std::vector<u32> selected = summarize(state, options, analysis.report);
  judge.conclude(state, selected, analysis.report);
  return analysis;
}

}  // namespace rocetrace
