// SPDX-License-Identifier: BSD-3-Clause
// PFC and global pause frames.

#include "roce/net/pause_frame.hpp"

#include <gtest/gtest.h>

#include "support/wrap.hpp"

namespace roce {
namespace {

TEST(Pause, PfcDecodesALiteral) {
  const std::array<u8, 20> bytes = {0x01, 0x01, 0x00, 0x08, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  const Pfc pfc = *read<Pfc>(bytes);
  EXPECT_EQ(pfc.opcode, kPfcOpcode);
  EXPECT_TRUE(pfc.has(3));
  EXPECT_FALSE(pfc.has(4));
  EXPECT_EQ(pfc.time[3], 0xffff);
  EXPECT_EQ(find_field(kPfcFields, "time3")->at, 8u * 10);
}

TEST(Pause, SurvivesEveryCut) {
  const std::array<u8, 20> bytes = {0x00, 0x01, 0x12, 0x34};
  for (std::size_t size = 0; size < sizeof(Pfc); size++) {
    EXPECT_EQ(read<Pause>(Bytes(bytes).first(size)).has_value(), size >= sizeof(Pause));
    EXPECT_FALSE(read<Pfc>(Bytes(bytes).first(size)));
  }
  EXPECT_EQ(read<Pause>(bytes)->time, 0x1234);
  EXPECT_EQ(read_bits(bytes, find_field(kPauseFields, "time")->at, 16), 0x1234u);
}

TEST(Pause, FramesAreFoundByEtherType) {
  const auto pfc = test::wrap({1, 1, 0, 0x88, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0}, {});
  const auto seen = net::decode_pause(test::ethernet(0x8808, pfc));
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->by_priority);
  EXPECT_EQ(seen->enabled, 0x88);
  EXPECT_EQ(seen->time[3], 9);
  EXPECT_EQ(seen->time[7], 0);
  EXPECT_EQ(seen->source_mac[5], 0xa);
  const auto global = net::decode_pause(test::ethernet(0x8808, test::wrap({0, 1, 0xff, 0xff}, {})));
  ASSERT_TRUE(global);
  EXPECT_FALSE(global->by_priority);
  EXPECT_EQ(global->time[0], 0xffff);
  EXPECT_FALSE(net::decode_pause(test::ethernet(0x0800, pfc)));
  EXPECT_FALSE(net::decode_pause(test::ethernet(0x8808, {1, 1, 0, 8})));
}

}  // namespace
}  // namespace roce
