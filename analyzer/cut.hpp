// SPDX-License-Identifier: BSD-3-Clause
// A part of the captures, as a capture of its own.

#pragma once

#include "options.hpp"

namespace rocetrace {

class Progress;

/// Writes the frames that the options select to their only output, a pcapng file, with their own
/// times and interfaces. Where QPs or hosts were asked for: the RoCE packets of their half-flows,
/// and the messages of the communication manager between the same hosts. Gives the number of frames
/// written. Throws std::runtime_error for what cannot be read or written.
roce::u64 cut(const Options& options, Progress& progress);

}  // namespace rocetrace
