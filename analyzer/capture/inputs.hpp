// SPDX-License-Identifier: BSD-3-Clause
// From what the user named to the capture files that are meant.

#pragma once

#include <string>
#include <vector>

namespace rocetrace {

/// The capture files that `names` stand for. A directory stands for the captures directly in it,
/// told by their content, in the order of their names (numbers in them count as numbers); a pattern
/// (*, ?, [...]) that is no file itself for what it matches, in the same order; anything else,
/// "-" too, for itself. Throws std::runtime_error for a directory that cannot be read, and for a
/// directory or pattern that stands for nothing.
std::vector<std::string> expand_inputs(const std::vector<std::string>& names);

}  // namespace rocetrace
