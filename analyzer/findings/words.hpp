// SPDX-License-Identifier: BSD-3-Clause
// How findings name what they are about, and say how much of it there is.

#pragma once

#include <fmt/format.h>

#include "findings/trace_view.hpp"
#include "report/human.hpp"

namespace rocetrace {

/// "3 packets", "1 packet".
std::string plural(u64 count, std::string_view one, std::string_view many);
inline std::string packets(u64 count) {
  return plural(count, "packet", "packets");
}

/// "10.0.0.1 QP 0x1f -> 10.0.0.2 QP 0x36 (UDP source port 49152, DSCP 26)". The first QP is known
/// from the other direction, and left out where that is not.
std::string name_of(const TraceView& trace, const roce::flow::HalfFlow& flow);

/// The host that has an address: a GID that maps an IPv4 address is the same host as that address.
std::string host_of(const TraceView& trace, u32 address);

/// What names a half-flow, as evidence: source, destination, source_qp, dest_qp, source_port, dscp.
Evidence identity(const TraceView& trace, const roce::flow::HalfFlow& flow);

/// The DSCP that most of its packets carry, CE marks aside; nothing when it is not known.
std::optional<u8> usual_dscp(const roce::flow::HalfFlow& flow);

/// The text of a time as seconds after the beginning of the trace: "1.204 s into the trace".
std::string moment(const TraceView& trace, u64 time);

/// "10.0.0.0/24" of an address id.
std::string subnet_of(const TraceView& trace, u32 address);

/// Of the sequence NAKs that a half-flow carries, those behind an RNR NAK: they tell of no loss.
u64 naks_of_refusal(const TraceView& trace, const roce::flow::HalfFlow& answers);

/// Divides; 0 of nothing.
double ratio(u64 part, u64 whole);

/// Rounded to what a reader can use: 1234.567 -> 1234.6.
double rounded(double value, int decimals);

}  // namespace rocetrace
