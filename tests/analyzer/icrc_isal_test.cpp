// SPDX-License-Identifier: BSD-3-Clause
// ISA-L's CRC-32 is the core's.

#include "icrc_isal.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "roce/icrc.hpp"

namespace rocetrace {
namespace {

TEST(IcrcIsal, EqualsThePortableOneAtEveryLengthAndStart) {
  std::vector<roce::u8> bytes(1100);
  for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<roce::u8>(i * i + 7 * i);
  for (std::size_t size = 0; size <= 1024; size++) {
    const roce::u8* const start = bytes.data() + size % 64;
    const roce::u32 before = static_cast<roce::u32>(size * 2654435761u);
    EXPECT_EQ(crc32_isal(before, start, size), roce::crc32(before, start, size)) << size;
  }
}

}  // namespace
}  // namespace rocetrace
