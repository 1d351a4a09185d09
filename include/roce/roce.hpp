// SPDX-License-Identifier: BSD-3-Clause
// The decoding core, all of it: from a captured frame to a decoded RoCE packet.

#pragma once

#include "roce/cm_message.hpp"
#include "roce/icrc.hpp"
#include "roce/net/address.hpp"
#include "roce/net/address_prefix.hpp"
#include "roce/net/icmp_error.hpp"
#include "roce/net/layers.hpp"
#include "roce/net/located.hpp"
#include "roce/net/observe.hpp"
#include "roce/net/pause_frame.hpp"
#include "roce/net/sflow.hpp"
#include "roce/net/unopened.hpp"
#include "roce/opcode.hpp"
#include "roce/packet.hpp"
#include "roce/psn.hpp"
#include "roce/syndrome.hpp"
#include "roce/wire/bytes.hpp"
#include "roce/wire/fields.hpp"
#include "roce/wire/grh.hpp"
#include "roce/wire/headers.hpp"
#include "roce/wire/lldp.hpp"
#include "roce/wire/mad.hpp"
#include "roce/wire/pause.hpp"
