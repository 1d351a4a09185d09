// SPDX-License-Identifier: BSD-3-Clause
// The same trouble of several hosts at the same time that one queue of a switch would explain.

#pragma once

#include <optional>

#include "findings/cases.hpp"

namespace rocetrace {

struct SharedQueue {
  std::string what;                  // "VLAN priority 3", or how the marks began
  Evidence evidence;                 // the same as a value
  std::vector<std::size_t> members;  // indices of cases, ascending
  std::size_t senders = 0, receivers = 0;
};

/// The largest part of the cases `left`, of at least kGrouped, that one queue would explain: from
/// several senders to several hosts, at one moment, all in one VLAN priority or first CE-marked
/// within a millisecond, when hardly any other data half-flow of that moment is.
std::optional<SharedQueue> shared_queue(const TraceView& trace, const std::vector<Case>& cases,
                                        const std::vector<std::size_t>& left);

}  // namespace rocetrace
