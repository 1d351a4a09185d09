// SPDX-License-Identifier: BSD-3-Clause
// The limits at which findings are made: defaults as a table, changed by --set and a file.

#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

/// How a limit is written and kept.
enum class Unit : roce::u8 {
  count,     // 20
  share,     // 0.1% or 0.001; kept as 0..1
  duration,  // 100us, 1.5 ms, 2s; kept in nanoseconds
  rate       // events per second
};

struct Threshold {
  std::string_view key;
  Unit unit;
  double value;  // the default
  std::string_view what;
};

/// All limits there are, by key.
std::span<const Threshold> thresholds();

class Thresholds {
 public:
  Thresholds();

  /// Takes "loss.retransmission.warning=0.1%". Throws std::runtime_error for an unknown key and for
  /// a value that is none of its unit.
  void set(std::string_view assignment);

  /// Takes a file of such lines; empty ones and what follows a # are skipped. Throws
  /// std::runtime_error with the file's name and the line.
  void read(const std::string& file);

  /// The limit of that key, in the unit of its row. The key has to be one of the table's.
  double operator[](std::string_view key) const;

 private:
  static constexpr std::size_t kMost = 64;
  std::array<double, kMost> values_{};
};

}  // namespace rocetrace
