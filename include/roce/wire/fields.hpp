// SPDX-License-Identifier: BSD-3-Clause
// How a header's fields are described for those who show packets. The rows themselves stand beside
// each header. Offsets are not written down: they are the sum of the widths before.

#pragma once

#include <string_view>

#include "roce/wire/bytes.hpp"

namespace roce {

/// How a field is best shown.
enum class Show : u8 { decimal, hex, flag, opcode, syndrome, reserved, bytes, ipv6 };

/// One field of a header, most significant bit first.
struct Field {
  std::string_view abbrev;  // last part of a display filter: `psn` of roce.bth.psn
  std::string_view name;    // as in the specification
  u16 bits;
  Show show;
};

/// Sum of the widths: of a whole header's rows, eight times the header's size.
constexpr std::size_t total_bits(std::span<const Field> fields) {
  std::size_t sum = 0;
  for (const Field& field : fields) sum += field.bits;
  return sum;
}

/// Where a field lies, in bits from the start of its header.
struct FieldPlace {
  std::size_t at = 0;
  std::size_t bits = 0;
};

/// The place of the field called `abbrev`; nothing if there is none.
constexpr std::optional<FieldPlace> find_field(std::span<const Field> fields,
                                               std::string_view abbrev) {
  std::size_t at = 0;
  for (const Field& field : fields) {
    if (field.abbrev == abbrev) return FieldPlace{at, field.bits};
    at += field.bits;
  }
  return std::nullopt;
}

/// Reads `bits` (at most 64) bits that start `at` bits into `bytes`, most significant first.
/// The caller provides that they lie within `bytes`.
constexpr u64 read_bits(Bytes bytes, std::size_t at, std::size_t bits) {
  u64 value = 0;
  for (std::size_t i = at; i < at + bits; i++) {
    value = value << 1 | (bytes[i / 8] >> (7 - i % 8) & 1u);
  }
  return value;
}

}  // namespace roce
