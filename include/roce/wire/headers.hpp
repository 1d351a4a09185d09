// SPDX-License-Identifier: BSD-3-Clause
// The InfiniBand transport headers that RoCE carries: IBTA volume 1, chapter 9; FLUSH and ATOMIC
// WRITE: annex A19. Each header is a struct, and rows that say the same for those who show it.

#pragma once

#include "roce/wire/bytes.hpp"
#include "roce/wire/fields.hpp"

namespace roce {

/// Extended headers, listed in the order in which they follow the BTH.
enum class Ext : u8 {
  rdeth,
  deth,
  xrceth,
  feth,
  reth,
  atomic_eth,
  aeth,
  atomic_ack_eth,
  imm_dt,
  ieth
};
inline constexpr std::size_t kExtCount = 10;

inline constexpr std::size_t kIcrcSize = 4;  // at the end of every packet

/// Base Transport Header (IBTA 9.2): every RoCE packet starts with one.
struct Bth {
  u8 opcode;
  u8 flags;  // SE:1 M:1 PadCnt:2 TVer:4
  be16 pkey;
  u8 congestion;  // FECN:1 BECN:1 reserved:6
  be24 dest_qp;
  u8 ack;  // A:1 reserved:7
  be24 psn;

  constexpr bool solicited() const { return flags & 0x80; }
  constexpr bool migration() const { return flags & 0x40; }
  constexpr u8 pad_count() const { return flags >> 4 & 3; }
  constexpr u8 version() const { return flags & 0x0f; }
  constexpr bool fecn() const { return congestion & 0x80; }
  constexpr bool becn() const { return congestion & 0x40; }
  constexpr bool ack_requested() const { return ack & 0x80; }
};
static_assert(WireHeader<Bth> && sizeof(Bth) == 12);

// clang-format off
inline constexpr Field kBthFields[] = {
    {"opcode",  "Opcode",                    8, Show::opcode},
    {"se",      "Solicited Event",           1, Show::flag},
    {"m",       "MigReq",                    1, Show::flag},
    {"padcnt",  "Pad Count",                 2, Show::decimal},
    {"tver",    "Transport Header Version",  4, Show::decimal},
    {"pkey",    "Partition Key",            16, Show::hex},
    {"fecn",    "FECN",                      1, Show::flag},
    {"becn",    "BECN",                      1, Show::flag},
    {"resv6",   "Reserved",                  6, Show::reserved},
    {"destqp",  "Destination Queue Pair",   24, Show::hex},
    {"a",       "Acknowledge Request",       1, Show::flag},
    {"resv7",   "Reserved",                  7, Show::reserved},
    {"psn",     "Packet Sequence Number",   24, Show::decimal},
};
// clang-format on
static_assert(total_bits(kBthFields) == 8 * sizeof(Bth));

/// Reliable Datagram Extended Transport Header (IBTA 9.3.1).
struct Rdeth {
  static constexpr Ext kKind = Ext::rdeth;
  u8 reserved;
  be24 ee_context;
};
static_assert(WireHeader<Rdeth> && sizeof(Rdeth) == 4);

// clang-format off
inline constexpr Field kRdethFields[] = {
    {"resv8",     "Reserved",    8, Show::reserved},
    {"eecontext", "EE Context", 24, Show::hex},
};
// clang-format on
static_assert(total_bits(kRdethFields) == 8 * sizeof(Rdeth));

/// Datagram Extended Transport Header (IBTA 9.3.2).
struct Deth {
  static constexpr Ext kKind = Ext::deth;
  be32 qkey;
  u8 reserved;
  be24 source_qp;
};
static_assert(WireHeader<Deth> && sizeof(Deth) == 8);

// clang-format off
inline constexpr Field kDethFields[] = {
    {"qkey",  "Queue Key",         32, Show::hex},
    {"resv8", "Reserved",           8, Show::reserved},
    {"srcqp", "Source Queue Pair", 24, Show::hex},
};
// clang-format on
static_assert(total_bits(kDethFields) == 8 * sizeof(Deth));

/// XRC Extended Transport Header (IBTA annex A14).
struct Xrceth {
  static constexpr Ext kKind = Ext::xrceth;
  u8 reserved;
  be24 xrc_srq;
};
static_assert(WireHeader<Xrceth> && sizeof(Xrceth) == 4);

// clang-format off
inline constexpr Field kXrcethFields[] = {
    {"resv8",  "Reserved",                      8, Show::reserved},
    {"xrcsrq", "XRC Shared Receive Queue",     24, Show::hex},
};
// clang-format on
static_assert(total_bits(kXrcethFields) == 8 * sizeof(Xrceth));

/// FLUSH Extended Transport Header (IBTA annex A19).
struct Feth {
  static constexpr Ext kKind = Ext::feth;
  std::array<u8, 3> reserved;
  u8 bits;  // reserved:2 SEL:2 PLT:4

  /// What is flushed: 0 the range of the RETH, 1 the whole memory region.
  constexpr u8 selectivity() const { return bits >> 4 & 3; }
  /// How far it must reach: bit 0 global visibility, bit 1 persistence.
  constexpr u8 placement() const { return bits & 0x0f; }
};
static_assert(WireHeader<Feth> && sizeof(Feth) == 4);

// clang-format off
inline constexpr Field kFethFields[] = {
    {"resv26", "Reserved",          26, Show::reserved},
    {"sel",    "Selectivity Level",  2, Show::decimal},
    {"plt",    "Placement Type",     4, Show::hex},
};
// clang-format on
static_assert(total_bits(kFethFields) == 8 * sizeof(Feth));

/// RDMA Extended Transport Header (IBTA 9.3.3): the remote buffer of a WRITE or READ.
struct Reth {
  static constexpr Ext kKind = Ext::reth;
  be64 va;
  be32 rkey;
  be32 dma_length;  // bytes of the whole message
};
static_assert(WireHeader<Reth> && sizeof(Reth) == 16);

// clang-format off
inline constexpr Field kRethFields[] = {
    {"va",     "Virtual Address", 64, Show::hex},
    {"rkey",   "Remote Key",      32, Show::hex},
    {"dmalen", "DMA Length",      32, Show::decimal},
};
// clang-format on
static_assert(total_bits(kRethFields) == 8 * sizeof(Reth));

/// Atomic Extended Transport Header (IBTA 9.3.4).
struct AtomicEth {
  static constexpr Ext kKind = Ext::atomic_eth;
  be64 va;
  be32 rkey;
  be64 swap_or_add;
  be64 compare;
};
static_assert(WireHeader<AtomicEth> && sizeof(AtomicEth) == 28);

// clang-format off
inline constexpr Field kAtomicEthFields[] = {
    {"va",     "Virtual Address",       64, Show::hex},
    {"rkey",   "Remote Key",            32, Show::hex},
    {"swapdt", "Swap (or Add) Data",    64, Show::hex},
    {"cmpdt",  "Compare Data",          64, Show::hex},
};
// clang-format on
static_assert(total_bits(kAtomicEthFields) == 8 * sizeof(AtomicEth));

/// ACK Extended Transport Header (IBTA 9.3.5).
struct Aeth {
  static constexpr Ext kKind = Ext::aeth;
  u8 syndrome;  // see Syndrome
  be24 msn;
};
static_assert(WireHeader<Aeth> && sizeof(Aeth) == 4);

// clang-format off
inline constexpr Field kAethFields[] = {
    {"syndrome", "Syndrome",                 8, Show::syndrome},
    {"msn",      "Message Sequence Number", 24, Show::decimal},
};
// clang-format on
static_assert(total_bits(kAethFields) == 8 * sizeof(Aeth));

/// Atomic ACK Extended Transport Header (IBTA 9.5.3).
struct AtomicAckEth {
  static constexpr Ext kKind = Ext::atomic_ack_eth;
  be64 original;  // what the memory held before
};
static_assert(WireHeader<AtomicAckEth> && sizeof(AtomicAckEth) == 8);

// clang-format off
inline constexpr Field kAtomicAckEthFields[] = {
    {"origremdt", "Original Remote Data", 64, Show::hex},
};
// clang-format on
static_assert(total_bits(kAtomicAckEthFields) == 8 * sizeof(AtomicAckEth));

/// Immediate Data (IBTA 9.3.6).
struct ImmDt {
  static constexpr Ext kKind = Ext::imm_dt;
  be32 data;
};
static_assert(WireHeader<ImmDt> && sizeof(ImmDt) == 4);

// clang-format off
inline constexpr Field kImmDtFields[] = {
    {"data", "Immediate Data", 32, Show::hex},
};
// clang-format on
static_assert(total_bits(kImmDtFields) == 8 * sizeof(ImmDt));

/// Invalidate Extended Transport Header (IBTA 9.3.7).
struct Ieth {
  static constexpr Ext kKind = Ext::ieth;
  be32 rkey;
};
static_assert(WireHeader<Ieth> && sizeof(Ieth) == 4);

// clang-format off
inline constexpr Field kIethFields[] = {
    {"rkey", "Remote Key", 32, Show::hex},
};
// clang-format on
static_assert(total_bits(kIethFields) == 8 * sizeof(Ieth));

/// A header as those who show packets need it: its name, its size and its rows.
struct HeaderInfo {
  std::string_view abbrev;
  std::string_view name;
  Ext kind;
  u8 size;  // bytes
  std::span<const Field> fields;
};

// clang-format off
/// The extended headers, in the order of Ext.
inline constexpr std::array<HeaderInfo, kExtCount> kExtHeaders = {{
    {"rdeth",        "RDETH",        Rdeth::kKind,        sizeof(Rdeth),        kRdethFields},
    {"deth",         "DETH",         Deth::kKind,         sizeof(Deth),         kDethFields},
    {"xrceth",       "XRCETH",       Xrceth::kKind,       sizeof(Xrceth),       kXrcethFields},
    {"feth",         "FETH",         Feth::kKind,         sizeof(Feth),         kFethFields},
    {"reth",         "RETH",         Reth::kKind,         sizeof(Reth),         kRethFields},
    {"atomiceth",    "AtomicETH",    AtomicEth::kKind,    sizeof(AtomicEth),    kAtomicEthFields},
    {"aeth",         "AETH",         Aeth::kKind,         sizeof(Aeth),         kAethFields},
    {"atomicacketh", "AtomicAckETH", AtomicAckEth::kKind, sizeof(AtomicAckEth), kAtomicAckEthFields},
    {"immdt",        "ImmDt",        ImmDt::kKind,        sizeof(ImmDt),        kImmDtFields},
    {"ieth",         "IETH",         Ieth::kKind,         sizeof(Ieth),         kIethFields},
}};
// clang-format on

static_assert([] {
  for (std::size_t i = 0; i < kExtCount; i++) {
    if (kExtHeaders[i].kind != static_cast<Ext>(i)) return false;
    if (total_bits(kExtHeaders[i].fields) != std::size_t{8} * kExtHeaders[i].size) return false;
  }
  return true;
}());

}  // namespace roce
