// SPDX-License-Identifier: BSD-3-Clause
// What the words of a report mean, how they are judged, and what to do next: `rocetrace explain`.

#pragma once

#include <span>
#include <string_view>

#include "findings/needs.hpp"

namespace rocetrace {

class Sink;

struct Explanation {
  std::string_view id;
  std::string_view kind;      // class, cause, place, ...
  std::string_view meaning;   // one sentence
  std::string_view judged;    // the rule
  std::string_view next;      // what to look at
  std::string_view causes{};  // what it usually means, of a finding
  Needs needs{};              // what must have been captured, of a finding; empty: nothing more
};

std::span<const Explanation> explanations();

/// Writes what `id` means, in lines of at most `width` columns; all words with their meanings when
/// it is empty, and all thresholds for "thresholds". Throws std::runtime_error for a word that is
/// not in the table.
void explain(std::string_view id, unsigned width, Sink& out);

}  // namespace rocetrace
