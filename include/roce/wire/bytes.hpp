// SPDX-License-Identifier: BSD-3-Clause
// Bytes as they lie on the wire: a view, and big-endian integers.
//
// Header structs in this folder are built from these integers only. They have alignment 1 and no
// padding, so a header can be copied out of a capture at any address, on any host, without casts
// and without undefined behaviour.

#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace roce {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// A view of captured bytes. Never owns; valid while the frame is.
using Bytes = std::span<const u8>;

/// An unsigned integer of N bytes, most significant byte first.
template <std::unsigned_integral T, std::size_t N = sizeof(T)>
struct BigEndian {
  std::array<u8, N> octets;

  // Spelled as one expression per byte: GCC and Clang turn it into a single load and byte swap,
  // which GCC 12 does not do for a loop at -O2.
  constexpr operator T() const {
    return [this]<std::size_t... I>(std::index_sequence<I...>) {
      return static_cast<T>(((T{octets[I]} << (8 * (N - 1 - I))) | ...));
    }
    (std::make_index_sequence<N>{});
  }
};

using be16 = BigEndian<u16>;
using be24 = BigEndian<u32, 3>;
using be32 = BigEndian<u32>;
using be64 = BigEndian<u64>;

/// A type that may be copied straight out of a packet.
template <class T>
concept WireHeader = std::is_trivially_copyable_v<T> && alignof(T) == 1;

/// Copies a header from the front of `bytes`; nothing if it does not fit.
template <WireHeader T>
std::optional<T> read(Bytes bytes) {
  if (bytes.size() < sizeof(T)) return std::nullopt;
  T header;
  std::memcpy(&header, bytes.data(), sizeof(T));
  return header;
}

}  // namespace roce
