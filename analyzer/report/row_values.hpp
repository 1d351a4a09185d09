// SPDX-License-Identifier: BSD-3-Clause
// What the rows of a report are made of, besides numbers and text.

#pragma once

#include <compare>
#include <string_view>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

using roce::i64;
using roce::u16;
using roce::u32;
using roce::u64;
using roce::u8;

/// A word of the published vocabulary (class, cause, place, service, ...). Static storage; empty
/// means that there is none, and becomes null.
using Word = std::string_view;

/// An instant, in nanoseconds since 1970-01-01 UTC.
struct Time {
  u64 ns = 0;
  friend auto operator<=>(const Time&, const Time&) = default;
};

}  // namespace rocetrace
