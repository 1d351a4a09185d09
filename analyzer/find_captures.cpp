// SPDX-License-Identifier: BSD-3-Clause
#include "find_captures.hpp"

#include <filesystem>
#include <stdexcept>

#include "capture/inputs.hpp"

namespace rocetrace {

Options find_captures(Options options) {
  options.captures = expand_inputs(options.captures);
  for (const std::string& output : options.outputs) {
    for (const std::string& capture : options.captures) {
      std::error_code none;
      if (std::filesystem::equivalent(output, capture, none))
        throw std::runtime_error{output + ": is the capture to read, and would be overwritten"};
    }
  }
  return options;
}

}  // namespace rocetrace
