// SPDX-License-Identifier: BSD-3-Clause
// Standard input as a capture that is read twice.

#pragma once

#include <string>
#include <vector>

namespace rocetrace {

/// Makes sure that all captures can be read a second time: when "-" is among them and is a pipe,
/// it is copied to a file without a name in $TMPDIR, and standard input becomes that file. Throws
/// std::runtime_error for other pipes, and when there is no room.
void prepare_to_read_twice(const std::vector<std::string>& captures);

/// Before the second reading: back to the beginning of standard input, if "-" is among the
/// captures.
void rewind_standard_input(const std::vector<std::string>& captures);

}  // namespace rocetrace
