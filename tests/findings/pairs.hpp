// SPDX-License-Identifier: BSD-3-Clause
// Pairs of traces, one for each kind of finding: one that has it, and a close relative that must
// not have it. Each table is a file; pairs.cpp walks them all, and the catalog.

#pragma once

#include "fixture.hpp"

namespace rocetrace::test {

struct Pair {
  std::string_view id;  // of the kind
  Report (*has)();
  Report (*has_not)();

  // Of the first finding of that kind in the trace that has it:
  std::string_view severity;
  std::string_view scope;  // "half_flow 1", "connection 1", "host 10.0.0.2", "hosts A B", "capture"
  u64 count = 0;
  u64 first_frame = 0;  // 0: it points at no frame
  std::vector<std::pair<std::string_view, std::string_view>> evidence = {};
  std::vector<std::string_view> says = {};  // in its text

  // Of the other kinds, those found with a severity of warning or error.
  std::vector<std::string> others = {};
  std::vector<std::string> others_without = {};  // in the relative
};

using Pairs = std::vector<Pair>;

Pairs capture_pairs();
Pairs loss_pairs();
Pairs nak_pairs();
Pairs retry_pairs();
Pairs path_pairs();
Pairs cm_pairs();
Pairs congestion_pairs();
Pairs cnp_pairs();
Pairs class_pairs();
Pairs pause_pairs();
Pairs entropy_pairs();
Pairs waiting_pairs();
Pairs fairness_pairs();
Pairs icrc_pairs();
Pairs counter_pairs();

}  // namespace rocetrace::test
