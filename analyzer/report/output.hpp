// SPDX-License-Identifier: BSD-3-Clause
// The files that a report goes to. Some formats need the captures' frames once more.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "report/moment.hpp"
#include "report/report.hpp"

namespace rocetrace {

/// One file in the making. It appears whole with finish(), and not at all without.
class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output() = default;

  /// Takes the frames of the second pass, in the order of the trace.
  virtual void on_moment(const Moment& moment) = 0;
  /// Both throw std::runtime_error with the file's name and the reason.
  virtual void finish() = 0;
};

/// Calls visit(moment) for every frame of the captures, in order; may throw std::runtime_error.
using Retell = std::function<void(const std::function<void(const Moment&)>& visit)>;

/// Whether one of these files needs a second pass over the captures.
bool wants_second_pass(const std::vector<std::string>& paths);

/// Writes `report` to all `paths`, each in the format of its extension, and calls `retell` once if
/// one of them needs it. Whatever happens to one file, the others are written.
/// Returns what went wrong, one line per file.
std::vector<std::string> write_outputs(const Report& report, const std::vector<std::string>& paths,
                                       const Retell& retell);

}  // namespace rocetrace
