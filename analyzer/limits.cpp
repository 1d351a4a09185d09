// SPDX-License-Identifier: BSD-3-Clause
#include "limits.hpp"

namespace rocetrace {

Thresholds limits_of(const Options& options) {
  Thresholds limits;
  if (!options.config.empty()) limits.read(options.config);
  for (const std::string& assignment : options.settings) limits.set(assignment);
  return limits;
}

}  // namespace rocetrace
