// SPDX-License-Identifier: BSD-3-Clause
// Each header: a literal decodes, every cut is survived, and the rows agree with the accessors.

#include "roce/wire/headers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "roce/packet.hpp"
#include "roce/wire/grh.hpp"
#include "support/packet.hpp"

namespace roce {
namespace {

/// The values that a header's rows read out of `bytes`, by abbreviation. Fields wider than 64 bits
/// are left out.
std::map<std::string, u64> by_rows(std::span<const Field> fields, Bytes bytes) {
  std::map<std::string, u64> out;
  std::size_t at = 0;
  for (const Field& field : fields) {
    if (field.bits <= 64) out[std::string(field.abbrev)] = read_bits(bytes, at, field.bits);
    at += field.bits;
  }
  return out;
}

/// Bytes that differ everywhere: f0 e1 d2 c3 b4 a5 96 87 78 ...
template <class H>
std::array<u8, sizeof(H)> pattern() {
  std::array<u8, sizeof(H)> bytes{};
  for (std::size_t i = 0; i < bytes.size(); i++) bytes[i] = static_cast<u8>(0xf0 - 15 * i);
  return bytes;
}

template <class H>
void survives_every_cut() {
  const auto bytes = pattern<H>();
  for (std::size_t size = 0; size < sizeof(H); size++) {
    EXPECT_FALSE(read<H>(Bytes(bytes).first(size))) << size;
  }
  EXPECT_TRUE(read<H>(bytes));
}

/// The packet of an opcode that carries H, cut at every length: H is there exactly when all of it
/// was captured.
template <class H>
void comes_whole_or_not_at_all(u8 opcode) {
  const test::Buffer bytes = test::Packet{.opcode = opcode, .payload_size = 8}.transport();
  const OpcodeInfo& info = opcode_info(opcode);
  ASSERT_TRUE(info.headers.has(H::kKind));
  const std::size_t end = sizeof(Bth) + info.offset[static_cast<std::size_t>(H::kKind)] + sizeof(H);
  for (std::size_t size = 0; size <= bytes.size(); size++) {
    const auto packet = RocePacket::decode(Bytes(bytes).first(size), bytes.size());
    EXPECT_EQ(packet.get<H>().has_value(), size >= end) << "opcode " << +opcode << ", " << size;
  }
}

template <class H>
void check_extended() {
  survives_every_cut<H>();
  int carriers = 0;
  for (unsigned opcode = 0; opcode < 256; opcode++) {
    if (!opcode_info(static_cast<u8>(opcode)).headers.has(H::kKind)) continue;
    comes_whole_or_not_at_all<H>(static_cast<u8>(opcode));
    carriers++;
  }
  EXPECT_GT(carriers, 0);
}

TEST(Bth, DecodesALiteral) {
  const std::array<u8, 12> bytes = {0x0a, 0xf0, 0x12, 0x34, 0xc0, 0x00,
                                    0x01, 0x23, 0x80, 0xff, 0xff, 0xfe};
  const Bth bth = *read<Bth>(bytes);
  EXPECT_EQ(bth.opcode, 0x0a);
  EXPECT_TRUE(bth.solicited() && bth.migration() && bth.fecn() && bth.becn());
  EXPECT_TRUE(bth.ack_requested());
  EXPECT_EQ(bth.pad_count(), 3);
  EXPECT_EQ(bth.version(), 0);
  EXPECT_EQ(bth.pkey, 0x1234);
  EXPECT_EQ(bth.dest_qp, 0x123u);
  EXPECT_EQ(bth.psn, 0xff'fffeu);
}
TEST(Bth, SurvivesEveryCut) {
  survives_every_cut<Bth>();
}
TEST(Bth, RowsAgree) {
  const auto bytes = pattern<Bth>();
  const Bth h = *read<Bth>(bytes);
  auto rows = by_rows(kBthFields, bytes);
  EXPECT_EQ(rows["opcode"], h.opcode);
  EXPECT_EQ(rows["se"], h.solicited());
  EXPECT_EQ(rows["m"], h.migration());
  EXPECT_EQ(rows["padcnt"], h.pad_count());
  EXPECT_EQ(rows["tver"], h.version());
  EXPECT_EQ(rows["pkey"], h.pkey);
  EXPECT_EQ(rows["fecn"], h.fecn());
  EXPECT_EQ(rows["becn"], h.becn());
  EXPECT_EQ(rows["destqp"], h.dest_qp);
  EXPECT_EQ(rows["a"], h.ack_requested());
  EXPECT_EQ(rows["psn"], h.psn);
}

TEST(Rdeth, DecodesALiteral) {
  EXPECT_EQ(read<Rdeth>(std::array<u8, 4>{0, 1, 2, 3})->ee_context, 0x010203u);
}
TEST(Rdeth, SurvivesEveryCut) {
  check_extended<Rdeth>();
}
TEST(Rdeth, RowsAgree) {
  const auto bytes = pattern<Rdeth>();
  EXPECT_EQ(by_rows(kRdethFields, bytes)["eecontext"], read<Rdeth>(bytes)->ee_context);
}

TEST(Deth, DecodesALiteral) {
  const std::array<u8, 8> bytes = {0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01};
  EXPECT_EQ(read<Deth>(bytes)->qkey, 0x8001'0000u);
  EXPECT_EQ(read<Deth>(bytes)->source_qp, 1u);
}
TEST(Deth, SurvivesEveryCut) {
  check_extended<Deth>();
}
TEST(Deth, RowsAgree) {
  const auto bytes = pattern<Deth>();
  auto rows = by_rows(kDethFields, bytes);
  EXPECT_EQ(rows["qkey"], read<Deth>(bytes)->qkey);
  EXPECT_EQ(rows["srcqp"], read<Deth>(bytes)->source_qp);
}

TEST(Xrceth, DecodesALiteral) {
  EXPECT_EQ(read<Xrceth>(std::array<u8, 4>{0, 0xab, 0xcd, 0xef})->xrc_srq, 0xabcdefu);
}
TEST(Xrceth, SurvivesEveryCut) {
  check_extended<Xrceth>();
}
TEST(Xrceth, RowsAgree) {
  const auto bytes = pattern<Xrceth>();
  EXPECT_EQ(by_rows(kXrcethFields, bytes)["xrcsrq"], read<Xrceth>(bytes)->xrc_srq);
}

TEST(Feth, DecodesALiteral) {
  const Feth h = *read<Feth>(std::array<u8, 4>{0, 0, 0, 0x13});
  EXPECT_EQ(h.selectivity(), 1);
  EXPECT_EQ(h.placement(), 3);
}
TEST(Feth, SurvivesEveryCut) {
  check_extended<Feth>();
}
TEST(Feth, RowsAgree) {
  const auto bytes = pattern<Feth>();
  auto rows = by_rows(kFethFields, bytes);
  EXPECT_EQ(rows["sel"], read<Feth>(bytes)->selectivity());
  EXPECT_EQ(rows["plt"], read<Feth>(bytes)->placement());
}

TEST(Reth, DecodesALiteral) {
  const std::array<u8, 16> bytes = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 1, 0, 0};
  const Reth h = *read<Reth>(bytes);
  EXPECT_EQ(h.va, 0x0102'0304'0506'0708u);
  EXPECT_EQ(h.rkey, 0x090a'0b0cu);
  EXPECT_EQ(h.dma_length, 65536u);
}
TEST(Reth, SurvivesEveryCut) {
  check_extended<Reth>();
}
TEST(Reth, RowsAgree) {
  const auto bytes = pattern<Reth>();
  const Reth h = *read<Reth>(bytes);
  auto rows = by_rows(kRethFields, bytes);
  EXPECT_EQ(rows["va"], h.va);
  EXPECT_EQ(rows["rkey"], h.rkey);
  EXPECT_EQ(rows["dmalen"], h.dma_length);
}

TEST(AtomicEth, DecodesALiteral) {
  std::array<u8, 28> bytes{};
  bytes[7] = 1, bytes[11] = 2, bytes[19] = 3, bytes[27] = 4;
  const AtomicEth h = *read<AtomicEth>(bytes);
  EXPECT_EQ(h.va, 1u);
  EXPECT_EQ(h.rkey, 2u);
  EXPECT_EQ(h.swap_or_add, 3u);
  EXPECT_EQ(h.compare, 4u);
}
TEST(AtomicEth, SurvivesEveryCut) {
  check_extended<AtomicEth>();
}
TEST(AtomicEth, RowsAgree) {
  const auto bytes = pattern<AtomicEth>();
  const AtomicEth h = *read<AtomicEth>(bytes);
  auto rows = by_rows(kAtomicEthFields, bytes);
  EXPECT_EQ(rows["va"], h.va);
  EXPECT_EQ(rows["rkey"], h.rkey);
  EXPECT_EQ(rows["swapdt"], h.swap_or_add);
  EXPECT_EQ(rows["cmpdt"], h.compare);
}

TEST(Aeth, DecodesALiteral) {
  const Aeth h = *read<Aeth>(std::array<u8, 4>{0x60, 0, 1, 0});
  EXPECT_EQ(h.syndrome, 0x60);
  EXPECT_EQ(h.msn, 256u);
}
TEST(Aeth, SurvivesEveryCut) {
  check_extended<Aeth>();
}
TEST(Aeth, RowsAgree) {
  const auto bytes = pattern<Aeth>();
  auto rows = by_rows(kAethFields, bytes);
  EXPECT_EQ(rows["syndrome"], read<Aeth>(bytes)->syndrome);
  EXPECT_EQ(rows["msn"], read<Aeth>(bytes)->msn);
}

TEST(AtomicAckEth, DecodesALiteral) {
  const std::array<u8, 8> bytes = {0, 0, 0, 0, 0, 0, 1, 2};
  EXPECT_EQ(read<AtomicAckEth>(bytes)->original, 0x102u);
}
TEST(AtomicAckEth, SurvivesEveryCut) {
  check_extended<AtomicAckEth>();
}
TEST(AtomicAckEth, RowsAgree) {
  const auto bytes = pattern<AtomicAckEth>();
  EXPECT_EQ(by_rows(kAtomicAckEthFields, bytes)["origremdt"], read<AtomicAckEth>(bytes)->original);
}

TEST(ImmDt, DecodesALiteral) {
  EXPECT_EQ(read<ImmDt>(std::array<u8, 4>{1, 2, 3, 4})->data, 0x01020304u);
}
TEST(ImmDt, SurvivesEveryCut) {
  check_extended<ImmDt>();
}
TEST(ImmDt, RowsAgree) {
  const auto bytes = pattern<ImmDt>();
  EXPECT_EQ(by_rows(kImmDtFields, bytes)["data"], read<ImmDt>(bytes)->data);
}

TEST(Ieth, DecodesALiteral) {
  EXPECT_EQ(read<Ieth>(std::array<u8, 4>{4, 3, 2, 1})->rkey, 0x04030201u);
}
TEST(Ieth, SurvivesEveryCut) {
  check_extended<Ieth>();
}
TEST(Ieth, RowsAgree) {
  const auto bytes = pattern<Ieth>();
  EXPECT_EQ(by_rows(kIethFields, bytes)["rkey"], read<Ieth>(bytes)->rkey);
}

TEST(Grh, DecodesALiteral) {
  std::array<u8, 40> bytes{};
  bytes[0] = 0x61, bytes[1] = 0x2a, bytes[2] = 0xbc, bytes[3] = 0xde;
  bytes[5] = 20, bytes[6] = 0x1b, bytes[7] = 64, bytes[8] = 0xfe, bytes[39] = 1;
  const Grh h = *read<Grh>(bytes);
  EXPECT_EQ(h.version(), 6);
  EXPECT_EQ(h.traffic_class(), 0x12);
  EXPECT_EQ(h.flow_label(), 0xabcdeu);
  EXPECT_EQ(h.payload_length, 20);
  EXPECT_EQ(h.next_header, kGrhNextIba);
  EXPECT_EQ(h.hop_limit, 64);
  EXPECT_EQ(h.source[0], 0xfe);
  EXPECT_EQ(h.destination[15], 1);
}
TEST(Grh, SurvivesEveryCut) {
  survives_every_cut<Grh>();
}
TEST(Grh, RowsAgree) {
  const auto bytes = pattern<Grh>();
  const Grh h = *read<Grh>(bytes);
  auto rows = by_rows(kGrhFields, bytes);
  EXPECT_EQ(rows["ipver"], h.version());
  EXPECT_EQ(rows["tclass"], h.traffic_class());
  EXPECT_EQ(rows["flow"], h.flow_label());
  EXPECT_EQ(rows["paylen"], h.payload_length);
  EXPECT_EQ(rows["nxthdr"], h.next_header);
  EXPECT_EQ(rows["hoplmt"], h.hop_limit);
}

}  // namespace
}  // namespace roce
