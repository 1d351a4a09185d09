// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers in words, in the tables that Wireshark wants. Everything here lives for ever.

#pragma once

#include "ws_compat.hpp"

namespace dissector {

/// "RC SEND First"; null for an unassigned opcode.
const char* opcode_text(uint8_t opcode);
value_string_ext* opcode_words();

/// What a syndrome byte says: "ACK", "RNR NAK, wait 0.64 ms", "NAK, PSN sequence error".
const char* syndrome_text(uint8_t syndrome);
value_string_ext* syndrome_words();

extern const value_string kSyndromeTypes[];  // by bits 6-5 of a syndrome
const value_string* rnr_timer_words();       // by code
const value_string* nak_code_words();        // by code

}  // namespace dissector
