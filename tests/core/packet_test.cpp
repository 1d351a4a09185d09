// SPDX-License-Identifier: BSD-3-Clause
// RocePacket: whole packets, and every way in which they are not.

#include "roce/packet.hpp"

#include <gtest/gtest.h>

#include "support/packet.hpp"

namespace roce {
namespace {

using test::Buffer;
using test::Packet;

RocePacket decode(const Buffer& bytes) {
  return RocePacket::decode(bytes, bytes.size());
}

TEST(RocePacket, AWholeWriteDecodes) {
  const Buffer bytes = Packet{.opcode = 0x0a,
                              .dest_qp = 0x123,
                              .psn = 0xff'ffff,
                              .payload_size = 13,
                              .ack_requested = true,
                              .va = 0x1122,
                              .rkey = 7}
                           .transport();
  const RocePacket packet = decode(bytes);
  EXPECT_FALSE(packet.stop());
  EXPECT_EQ(packet.psn(), Psn(0xff'ffff));
  EXPECT_EQ(packet.dest_qp(), 0x123u);
  EXPECT_EQ(packet.get<Reth>()->va, 0x1122u);
  EXPECT_EQ(packet.get<Reth>()->dma_length, 13u);
  EXPECT_FALSE(packet.get<Aeth>());
  EXPECT_EQ(packet.payload_size(), 13u);
  EXPECT_EQ(packet.payload().size(), 13u);
  EXPECT_EQ(packet.bth().pad_count(), 3);
  EXPECT_TRUE(packet.icrc());
}

TEST(RocePacket, HeadersComeInTheOrderOfExt) {
  const Buffer rd_bytes =
      Packet{.opcode = 0x4b, .payload_size = 4, .immediate = 9, .source_qp = 8, .ee_context = 7}
          .transport();
  const RocePacket rd = decode(rd_bytes);
  EXPECT_EQ(rd.get<Rdeth>()->ee_context, 7u);
  EXPECT_EQ(rd.get<Deth>()->source_qp, 8u);
  EXPECT_EQ(rd.get<Reth>()->dma_length, 4u);
  EXPECT_EQ(rd.get<ImmDt>()->data, 9u);
  const Buffer flush_bytes = Packet{.opcode = 0x1c, .va = 5, .feth = 1}.transport();
  const RocePacket flush = decode(flush_bytes);
  EXPECT_EQ(flush.get<Feth>()->placement(), 1);
  EXPECT_EQ(flush.get<Reth>()->va, 5u);
}

TEST(RocePacket, ACutPacketKeepsItsLengths) {
  const Buffer bytes = Packet{.opcode = 0x0a, .payload_size = 1000}.transport();
  for (std::size_t size = sizeof(Bth); size < bytes.size(); size++) {
    const auto packet = RocePacket::decode(Bytes(bytes).first(size), bytes.size());
    EXPECT_EQ(packet.stop().reason, StopReason::truncated) << size;
    EXPECT_EQ(packet.payload_size(), 1000u) << size;
    EXPECT_FALSE(packet.icrc()) << size;
  }
}

TEST(RocePacket, ACutBthSaysSo) {
  const Buffer bytes = Packet{}.transport();
  const auto packet = RocePacket::decode(Bytes(bytes).first(11), bytes.size());
  EXPECT_FALSE(packet.has_bth());
  EXPECT_EQ(packet.stop(), (Stop{StopReason::truncated, 0, 12, 11}));
}

TEST(RocePacket, AnUnknownOpcodeStopsAfterTheBth) {
  const Buffer bytes = Packet{.opcode = 0xc5, .psn = 77, .payload_size = 64}.transport();
  const RocePacket packet = decode(bytes);
  EXPECT_EQ(packet.stop().reason, StopReason::unknown_opcode);
  EXPECT_EQ(packet.psn(), Psn(77));
  EXPECT_EQ(packet.payload_size(), 0u);
}

TEST(RocePacket, ALengthBelowWhatTheOpcodeNeedsIsBad) {
  Buffer bytes = Packet{.opcode = 0x0a}.transport();
  bytes.resize(20);
  const RocePacket packet = decode(bytes);
  EXPECT_EQ(packet.stop(), (Stop{StopReason::bad_length, 12, 20, 8}));
  EXPECT_FALSE(packet.get<Reth>());
}

TEST(RocePacket, BytesBeyondTheWireSizeAreNotLookedAt) {
  Buffer bytes = Packet{.payload_size = 8}.transport();
  const std::size_t size = bytes.size();
  bytes.resize(size + 30, 0xee);
  const auto packet = RocePacket::decode(bytes, size);
  EXPECT_FALSE(packet.stop());
  EXPECT_EQ(packet.icrc(), 0u);
}

TEST(RocePacket, EveryOpcodeDecodesWhatTheBuilderWrote) {
  for (unsigned opcode = 0; opcode < 256; opcode++) {
    if (!opcode_info(static_cast<u8>(opcode)).known()) continue;
    const Buffer bytes = Packet{.opcode = static_cast<u8>(opcode), .payload_size = 5}.transport();
    const RocePacket packet = decode(bytes);
    EXPECT_FALSE(packet.stop()) << opcode;
    EXPECT_EQ(packet.payload_size(), opcode == kCnpOpcode ? kCnpReserved : 5u) << opcode;
  }
}

}  // namespace
}  // namespace roce
