// SPDX-License-Identifier: BSD-3-Clause
// Follows the packets of a capture file, without the analyzer.

#pragma once

#include "support/captures.hpp"
#include "support/followed.hpp"

namespace roce::test {

/// The RoCE packets of `file`, their ICRCs checked where captured.
std::vector<flow::Observation> observations(const PcapFile& file);

inline Followed follow(const PcapFile& file) {
  return follow(observations(file));
}

}  // namespace roce::test
