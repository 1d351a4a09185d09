// SPDX-License-Identifier: BSD-3-Clause
// Which half-flows a person should look at first.

#pragma once

#include <compare>
#include <cstddef>
#include <vector>

#include "report/report.hpp"

namespace rocetrace {

/// How badly a half-flow fared. Kinds of trouble come before amounts of it.
struct Trouble {
  enum class Kind : u8 {
    none,
    congestion,  // CE marks or CNPs
    not_ready,   // RNR NAKs
    disorder,    // sequence NAKs, stale packets, reordering
    missing,     // PSN gaps
    resent,      // retransmissions
    fatal_nak    // a NAK that ends its QP
  };
  Kind kind = Kind::none;
  double amount = 0;  // compares half-flows of the same kind
  u64 packets = 0;    // and this, those of the same amount

  friend auto operator<=>(const Trouble&, const Trouble&) = default;
};

Trouble trouble_of(const HalfFlowRow& row);

struct Ranked {
  Trouble trouble;
  std::size_t index = 0;  // in the table of half-flows
};

struct Ranking {
  std::vector<Ranked> worst;  // worst first; at most as many as asked for
  u64 troubled = 0;           // half-flows with more than congestion
  u64 congested = 0;          // half-flows with congestion alone
};

/// Ranks all half-flows in one pass, keeping `most` of them. Ties go to the earlier half-flow.
Ranking rank(const Table<HalfFlowRow>& rows, std::size_t most);

}  // namespace rocetrace
