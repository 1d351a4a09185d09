// SPDX-License-Identifier: BSD-3-Clause
// The one place that knows ISA-L.

#include "icrc_isal.hpp"

#include <isa-l/crc.h>

namespace rocetrace {

roce::u32 crc32_isal(roce::u32 crc, const roce::u8* data, std::size_t size) {
  return crc32_gzip_refl(crc, data, size);
}

}  // namespace rocetrace
