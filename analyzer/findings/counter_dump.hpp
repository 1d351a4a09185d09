// SPDX-License-Identifier: BSD-3-Clause
// What a NIC counted between two moments: two dumps of its counters, as Linux's tools print them.

#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "findings/finding.hpp"

namespace rocetrace {

/// Counters by name, for each device: "mlx5_0/1" is device and port. Where a dump names none, the
/// device is "".
using CounterDump = std::map<std::string, std::map<std::string, u64>>;

/// Reads what `rdma statistic show` prints (with -j, too), `ethtool -S`, `grep . hw_counters/*`,
/// and any other text of lines with a name and a number. Lines that are none are skipped. Throws
/// std::runtime_error, one line, when no counter is found at all or there are more than 65,536.
CounterDump parse_counters(std::string_view text);

/// The same of a file of at most 16 MiB. Throws std::runtime_error with the file's name.
CounterDump read_counters(const std::string& file);

/// What one device counted from the first dump to the second.
struct NicCounts {
  std::string device;
  std::map<std::string, u64> counts;  // by name; only names that are in both dumps
  std::vector<std::string> backward;  // names of counters that fell: they were reset, or wrapped
};

/// Throws std::runtime_error, one line, when the two have no counter in common.
std::vector<NicCounts> counted_between(const CounterDump& before, const CounterDump& after);

}  // namespace rocetrace
