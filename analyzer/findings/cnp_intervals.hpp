// SPDX-License-Identifier: BSD-3-Clause
// How far apart the NICs of a trace send their CNPs.

#pragma once

#include <map>

#include "roce/flow/tracker.hpp"

namespace rocetrace {

/// The shortest intervals of each NIC's CNPs in each scope, by address id, over the whole trace.
std::map<roce::u32, roce::flow::CnpIntervals> cnp_intervals(const roce::flow::Tracker& tracker);

}  // namespace rocetrace
