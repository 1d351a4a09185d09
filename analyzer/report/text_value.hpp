// SPDX-License-Identifier: BSD-3-Clause
// Text that comes from captures and users, made harmless; and times as text.

#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

/// The Unicode replacement character, in UTF-8.
inline constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// The number of bytes of the well-formed UTF-8 sequence that `text` starts with, or 0.
/// Overlong forms, surrogates and values over U+10FFFF are not well formed (Unicode, table 3-7).
std::size_t utf8_length(std::string_view text);

/// `text` with ill-formed bytes replaced, and with everything that moves a terminal's cursor or
/// turns its text around (C0, C1, DEL, bidirectional controls) spelled out, as in \x1b.
std::string printable(std::string_view text);

inline constexpr std::size_t kTimeSize = 30;

/// Writes 2024-05-06T07:08:09.123456789Z, 30 bytes, at `out`; returns where it ends.
char* write_time(char* out, roce::u64 ns_since_1970);

std::string time_text(roce::u64 ns_since_1970);

}  // namespace rocetrace
