// SPDX-License-Identifier: GPL-2.0-or-later
// Management datagrams in a packet's payload: the messages that set up connections.

#pragma once

#include <optional>

#include "roce/wire/mad.hpp"
#include "sighting.hpp"

namespace dissector {

/// Whether the payload is a management datagram whose header was captured.
bool is_management(const Sighted& sighted);

/// The index in kCmMessages of the message that the packet carries.
std::optional<std::size_t> find_cm_message(const Sighted& sighted);

/// Where in the message, from the end of the MAD header, RDMA-CM's addresses are; bytes.
std::optional<std::size_t> find_ip_private(const Sighted& sighted);

}  // namespace dissector
