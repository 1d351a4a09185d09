// SPDX-License-Identifier: BSD-3-Clause
#include "ring_faults.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rocetrace {
namespace {

std::string seconds(u64 ns) {
  return fmt::format("{:.6f} s", static_cast<double>(ns) * 1e-9);
}

}  // namespace

std::vector<RotationFault> ring_faults(const TraceState& state) {
  std::vector<const CaptureInfo*> captures;
  for (std::size_t i = 0; i < state.trace.size(); i++) captures.push_back(&state.trace.info(i));
  std::vector<RotationFault> faults = rotation_faults(captures);
  const auto are_two_taps = [&](std::size_t a, std::size_t b) {
    return std::ranges::any_of(state.taps.copies(), [&](const Taps::Copies& copies) {
      const std::size_t one = copies.tap.capture, other = copies.kept.capture;
      return (one == a && other == b) || (one == b && other == a);
    });
  };
  std::erase_if(faults, [&](const RotationFault& fault) {
    return are_two_taps(fault.capture, fault.in_front);
  });
  return faults;
}

void note_ring_faults(const TraceState& state, Report& report) {
  for (const RotationFault& fault : ring_faults(state)) {
    const std::string& front = state.trace.info(fault.in_front).file;
    std::vector<std::string>& notes = report.captures[fault.capture].notes;
    if (fault.overlap_ns > 0)
      notes.push_back(fmt::format(
          "It begins {} before {} ended, which by its name is the file in front of it: {}.",
          seconds(fault.overlap_ns), front,
          fault.certain ? "the clock was set, or they are not of one capture"
                        : "if they are of one capture, its clock was set"));
    if (fault.hole_ns > 0)
      notes.push_back(fmt::format(
          "It begins {} after {} ended, which by its name is the file in front of it: nothing was "
          "captured meanwhile, or the clock was set.",
          seconds(fault.hole_ns), front));
    if (fault.missing > 0)
      notes.push_back(fmt::format(
          "{} between {} and it, by their numbers, {} not given: what happened then is unknown.",
          fault.missing == 1 ? "The file" : fmt::format("{} files", fault.missing), front,
          fault.missing == 1 ? "was" : "were"));
  }
}

}  // namespace rocetrace
