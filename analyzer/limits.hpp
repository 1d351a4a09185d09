// SPDX-License-Identifier: BSD-3-Clause
// The thresholds that the user asked for.

#pragma once

#include "findings/thresholds.hpp"
#include "options.hpp"

namespace rocetrace {

/// The defaults, changed by the configuration file, changed by the command line. Throws
/// std::runtime_error for a file that cannot be read and for thresholds that are none.
Thresholds limits_of(const Options& options);

}  // namespace rocetrace
