// SPDX-License-Identifier: BSD-3-Clause
// What a frame without RoCE is, in a word: told to users whose capture holds none.

#pragma once

#include <string_view>

#include "capture/frame.hpp"

namespace rocetrace {

/// The outermost thing that names the frame: "TCP", "UDP", "ARP", "LLDP", ...; "other".
std::string_view protocol_name(const Frame& frame);

}  // namespace rocetrace
