// SPDX-License-Identifier: BSD-3-Clause
// Integers of capture files, which come in the byte order of the machine that wrote them.

#pragma once

#include <bit>
#include <cstring>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

using roce::Bytes;
using roce::i64;
using roce::u16;
using roce::u32;
using roce::u64;
using roce::u8;

/// The integer at `at`, as this host stores it (kSwap false) or with its bytes reversed (true).
/// The caller has checked that it lies inside the buffer; any alignment will do.
template <bool kSwap>
u32 load32(const u8* at) {
  u32 value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (kSwap) value = __builtin_bswap32(value);
  return value;
}

template <bool kSwap>
u16 load16(const u8* at) {
  u16 value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (kSwap) value = __builtin_bswap16(value);
  return value;
}

template <bool kSwap>
u64 load64(const u8* at) {
  u64 value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (kSwap) value = __builtin_bswap64(value);
  return value;
}

/// The same for code that is not worth two copies.
inline u32 load32(const u8* at, bool swap) {
  return swap ? load32<true>(at) : load32<false>(at);
}
inline u16 load16(const u8* at, bool swap) {
  return swap ? load16<true>(at) : load16<false>(at);
}
inline u64 load64(const u8* at, bool swap) {
  return swap ? load64<true>(at) : load64<false>(at);
}

}  // namespace rocetrace
