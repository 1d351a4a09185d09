// SPDX-License-Identifier: BSD-3-Clause
// Captures of a sample of the packets, in which nothing can be missing.

#pragma once

#include "findings/trace_view.hpp"

namespace rocetrace {

/// Whether most flows open gaps all the time.
bool is_sampled(const TraceView& trace);

}  // namespace rocetrace
