// SPDX-License-Identifier: BSD-3-Clause
// The opcode table, syndromes and PSNs, beyond what static_asserts state beside them.

#include "roce/opcode.hpp"

#include <gtest/gtest.h>

#include "roce/psn.hpp"
#include "roce/syndrome.hpp"

namespace roce {
namespace {

TEST(Opcode, EveryServiceHasTheOperationsOfTheSpecification) {
  std::array<int, 8> count{};
  for (const OpcodeInfo& info : kOpcodes) {
    if (info.known()) count[static_cast<std::size_t>(&info - kOpcodes.data()) >> 5]++;
  }
  // RC and XRC: 21 and SEND with Invalidate twice, FLUSH, ATOMIC WRITE. UC: SEND and WRITE.
  EXPECT_EQ(count, (std::array<int, 8>{25, 12, 23, 2, 1, 25, 0, 0}));
}

TEST(Opcode, NamesAreThoseOfTheSpecification) {
  EXPECT_EQ(opcode_info(0x2a).service, "UC");
  EXPECT_EQ(opcode_info(0x2a).name, "RDMA WRITE Only");
  EXPECT_EQ(opcode_info(0x81).name, "CNP");
  EXPECT_EQ(opcode_info(0x10).name, "RDMA READ response Only");
  EXPECT_EQ(opcode_info(0xbc).name, "FLUSH");
}

TEST(Opcode, ResponsesOfXrcCarryNoXrceth) {
  EXPECT_TRUE(opcode_info(0xac).headers.has(Ext::xrceth));
  EXPECT_FALSE(opcode_info(0xb0).headers.has(Ext::xrceth));
}

TEST(Opcode, TheLayoutSaysWhatTheTableSays) {
  for (std::size_t i = 0; i < 256; i++) {
    const OpcodeInfo& info = kOpcodes[i];
    const OpcodeLayout& layout = kOpcodeLayout[i];
    EXPECT_EQ(layout.head, info.known() ? sizeof(Bth) + info.headers_size : 0u) << i;
    EXPECT_EQ(layout.aeth != 0, info.headers.has(Ext::aeth)) << i;
    EXPECT_EQ(layout.dma_length != 0, info.headers.has(Ext::reth)) << i;
    EXPECT_EQ(layout.source_qp != 0, info.headers.has(Ext::deth)) << i;
  }
}

TEST(Opcode, PartsBoundMessages) {
  EXPECT_TRUE(opcode_info(0x06).starts() && !opcode_info(0x06).ends());
  EXPECT_TRUE(!opcode_info(0x07).starts() && !opcode_info(0x07).ends());
  EXPECT_TRUE(!opcode_info(0x08).starts() && opcode_info(0x08).ends());
  EXPECT_TRUE(opcode_info(0x0c).starts() && opcode_info(0x0c).ends());
}

TEST(Syndrome, EveryByteIsOneThing) {
  for (unsigned i = 0; i < 256; i++) {
    const Syndrome s(static_cast<u8>(i));
    const int kinds = s.is_ack() + s.is_rnr_nak() + s.is_nak();
    EXPECT_EQ(kinds, (i >> 5 & 3) == 2 ? 0 : 1) << i;
  }
}

TEST(Syndrome, NakCodesHaveNames) {
  EXPECT_EQ(nak_name(Syndrome(0x60).nak_code()), "sequence");
  EXPECT_EQ(nak_name(Syndrome(0x62).nak_code()), "remote_access");
  EXPECT_EQ(nak_name(Syndrome(0x7f).nak_code()), "");
  EXPECT_EQ(nak_text(Syndrome(0x61).nak_code()), "invalid request");
}

TEST(Syndrome, RnrTimersGrowButForCodeZero) {
  for (std::size_t i = 2; i < kRnrTimerNs.size(); i++) {
    EXPECT_GT(kRnrTimerNs[i], kRnrTimerNs[i - 1]) << i;
  }
  EXPECT_EQ(kRnrTimerNs[0], 655'360'000u);
}

TEST(Psn, DistanceIsAntisymmetricButForTheFarthest) {
  for (u32 a : {0u, 1u, 0x7f'ffffu, 0x80'0000u, 0xff'ffffu}) {
    for (u32 b : {0u, 5u, 0x7f'fffeu, 0x80'0001u, 0xff'fffeu}) {
      const i32 there = distance(Psn(a), Psn(b));
      EXPECT_EQ(Psn(a) + static_cast<u32>(there), Psn(b));
      if (there != -0x80'0000) {
        EXPECT_EQ(distance(Psn(b), Psn(a)), -there);
      }
    }
  }
}

TEST(Psn, CountsOverTheWrap) {
  EXPECT_EQ(Psn(0xff'fffe) + 3u, Psn(1));
  EXPECT_EQ(Psn(1) - 3u, Psn(0xff'fffe));
  EXPECT_EQ(Psn(0x100'0005).value(), 5u);
}

}  // namespace
}  // namespace roce
