// SPDX-License-Identifier: BSD-3-Clause
// What happened in a frame, told apart as the reports' tables and plots do.

#pragma once

#include "report/moment.hpp"
#include "report/report.hpp"

namespace rocetrace {

/// The kinds of events, in the words of the published `events` table.
enum class EventKind : u8 { none, gap, retransmission, nak, rnr_nak, cnp };
inline constexpr std::array<Word, 6> kEventKinds = {"",    "gap",     "retransmission",
                                                    "nak", "rnr_nak", "cnp"};

/// What the packet of a moment is; `none` for an ordinary one. Of the packets that were sent again
/// in one go, each is a retransmission.
EventKind event_kind(const Moment& moment);

/// "ack", "rnr_nak", "nak_sequence", ... of an AETH's syndrome.
Word syndrome_word(u8 syndrome);

/// Whether there is anything to see: an event, another class than in order, a repeated response, a
/// wrong ICRC.
bool is_noteworthy(const Moment& moment);

}  // namespace rocetrace
