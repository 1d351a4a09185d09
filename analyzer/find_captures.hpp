// SPDX-License-Identifier: BSD-3-Clause
// From what the user named to the capture files that are read.

#pragma once

#include "options.hpp"

namespace rocetrace {

/// The options with files in the place of directories and patterns. Throws std::runtime_error for
/// those that stand for nothing, and for an output that is one of the captures: a report written
/// over the capture that it is made from would destroy it.
Options find_captures(Options options);

}  // namespace rocetrace
