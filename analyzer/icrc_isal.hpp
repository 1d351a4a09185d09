// SPDX-License-Identifier: BSD-3-Clause
// A CRC-32 that keeps up with memory, for checking the ICRC of whole captures.

#pragma once

#include <cstddef>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

/// A roce::Crc32 by ISA-L, which picks the carry-less multiplication this processor has.
roce::u32 crc32_isal(roce::u32 crc, const roce::u8* data, std::size_t size);

}  // namespace rocetrace
