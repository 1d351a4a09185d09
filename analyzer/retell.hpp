// SPDX-License-Identifier: BSD-3-Clause
// The second pass: every frame again, with what the first pass settled about it.

#pragma once

#include <functional>

#include "analyze.hpp"
#include "report/moment.hpp"

namespace rocetrace {

/// Reads the captures of `analysis` again and calls `visit` for each frame, in the order of the
/// trace. Takes the settlements, so it can be called once; they must have been kept. Throws
/// std::runtime_error for what cannot be read again.
void retell(const Options& options, Analysis& analysis, Progress& progress,
            const std::function<void(const Moment&)>& visit);

}  // namespace rocetrace
