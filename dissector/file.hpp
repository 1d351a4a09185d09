// SPDX-License-Identifier: GPL-2.0-or-later
// The capture file that is open: what is known of it, from when Wireshark begins to dissect it (for
// the first time or anew) until it is done.

#pragma once

#include "analysis.hpp"

namespace dissector {

void start_file();
void finish_first_pass();
void end_file();

/// Only between start_file() and end_file().
Analysis& file();
/// Whether a file is open at all.
bool has_file();

}  // namespace dissector
