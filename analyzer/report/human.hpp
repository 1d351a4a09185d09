// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people read them: three digits that matter, and a unit. Independent of the locale.

#pragma once

#include <fmt/format.h>

#include <string>

#include "roce/wire/bytes.hpp"

namespace rocetrace::human {

/// 1234567 -> "1,234,567".
std::string grouped(roce::u64 value);

/// 999 -> "999", 12345 -> "12.3k", 4.2e9 -> "4.2G": powers of 1000, never wider than five columns
/// below 10^18.
std::string count(double value);
inline std::string count(roce::u64 value) {
  return count(static_cast<double>(value));
}

/// 1536 -> "1.54 kB", powers of 1000, as for bit rates.
std::string bytes(roce::u64 value);

/// 25.1e9 -> "25.1 Gbit/s".
std::string bit_rate(double bits_per_second);

/// 1500 -> "1.5 us", from nanoseconds; up to "12.3 s", "4 min 05 s", "3 h 12 min".
std::string duration(roce::u64 ns);

/// `part` of `whole` in percent: "0 %", "0.01 %", "3.4 %", "100 %". Says "0 %" and "100 %" only
/// when it is so. "-" of nothing.
std::string share(roce::u64 part, roce::u64 whole);

/// `text` without spaces, for the cells of a table.
std::string tight(std::string text);

}  // namespace rocetrace::human
