// SPDX-License-Identifier: BSD-3-Clause
// What each BTH opcode means. An opcode is a transport service (top 3 bits) and an operation (low 5
// bits); the headers that follow are those which the service adds plus those which the operation
// adds. So the 256-entry table is computed from two short ones, and a new opcode is one new row.

#pragma once

#include <initializer_list>
#include <string_view>

#include "roce/wire/headers.hpp"

namespace roce {

/// A set of extended headers. Their order on the wire is that of Ext.
struct ExtSet {
  u16 bits = 0;

  constexpr ExtSet() = default;
  constexpr ExtSet(std::initializer_list<Ext> list) {
    for (Ext e : list) bits = static_cast<u16>(bits | 1u << static_cast<unsigned>(e));
  }
  constexpr bool has(Ext e) const { return bits >> static_cast<unsigned>(e) & 1; }
  constexpr ExtSet operator|(ExtSet o) const {
    o.bits = static_cast<u16>(o.bits | bits);
    return o;
  }

  /// Bytes taken by the headers before `end` (all of them by default).
  constexpr std::size_t size(std::size_t end = kExtCount) const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < end; i++) {
      if (bits >> i & 1) sum += kExtHeaders[i].size;
    }
    return sum;
  }
};

/// Transport service: the top three bits of an opcode. `cnp` is the class that holds the CNP; 6 and
/// 7 are left to manufacturers.
enum class Service : u8 { rc, uc, rd, ud, cnp, xrc, manufacturer6, manufacturer7 };
enum class Role : u8 { request, response, notify };
enum class Part : u8 { first, middle, last, only };

/// What an opcode does, whatever the service that carries it.
enum class Operation : u8 {
  send,
  write,
  read_request,
  read_response,
  acknowledge,
  atomic_acknowledge,
  compare_swap,
  fetch_add,
  flush,
  atomic_write,
  cnp
};

inline constexpr u8 kCnpOpcode = 0x81;           // IBTA A17.9.3
inline constexpr std::size_t kCnpReserved = 16;  // zero bytes that follow a CNP's BTH

struct OpcodeInfo {
  std::string_view service;  // empty: this opcode is not assigned
  std::string_view name;     // of the operation, as in the specification
  Operation operation{};
  Role role{};
  Part part{};
  ExtSet headers;
  std::array<u8, kExtCount> offset{};  // of each header, from the end of the BTH
  u8 headers_size = 0;                 // of all extended headers, bytes

  constexpr bool known() const { return !service.empty(); }
  /// Whether a message starts, or ends, with this packet.
  constexpr bool starts() const { return part == Part::first || part == Part::only; }
  constexpr bool ends() const { return part == Part::last || part == Part::only; }
};

/// The service an opcode belongs to, whether the opcode is assigned or not.
constexpr Service service_of(u8 opcode) {
  return static_cast<Service>(opcode >> 5);
}

namespace detail {

struct ServiceRow {
  std::string_view name;
  ExtSet on_request, on_response;
};
// clang-format off
inline constexpr ServiceRow kServices[] = {
    // name  on requests               on responses
    {"RC",  {},                       {}},
    {"UC",  {},                       {}},
    {"RD",  {Ext::rdeth, Ext::deth},  {Ext::rdeth}},
    {"UD",  {Ext::deth},              {}},
    {"CNP", {},                       {}},
    {"XRC", {Ext::xrceth},            {}},
};
// clang-format on

enum : u8 { RC = 1, UC = 2, RD = 4, UD = 8, CNP = 16, XRC = 32 };
inline constexpr u8 kConnected = RC | UC | RD | XRC;
inline constexpr u8 kReliable = RC | RD | XRC;

struct OperationRow {
  u8 code;
  u8 services;
  std::string_view name;
  Operation operation;
  Role role;
  Part part;
  ExtSet headers;
};

constexpr std::array<OpcodeInfo, 256> build_opcodes() {
  using enum Role;
  using enum Part;
  using enum Ext;
  using O = Operation;

  // clang-format off
  const OperationRow rows[] = {
    // code  services         name                              operation              role      part    headers
    {0x00, kConnected,      "SEND First",                     O::send,               request,  first,  {}},
    {0x01, kConnected,      "SEND Middle",                    O::send,               request,  middle, {}},
    {0x02, kConnected,      "SEND Last",                      O::send,               request,  last,   {}},
    {0x03, kConnected,      "SEND Last with Immediate",       O::send,               request,  last,   {imm_dt}},
    {0x04, kConnected | UD, "SEND Only",                      O::send,               request,  only,   {}},
    {0x05, kConnected | UD, "SEND Only with Immediate",       O::send,               request,  only,   {imm_dt}},
    {0x06, kConnected,      "RDMA WRITE First",               O::write,              request,  first,  {reth}},
    {0x07, kConnected,      "RDMA WRITE Middle",              O::write,              request,  middle, {}},
    {0x08, kConnected,      "RDMA WRITE Last",                O::write,              request,  last,   {}},
    {0x09, kConnected,      "RDMA WRITE Last with Immediate", O::write,              request,  last,   {imm_dt}},
    {0x0a, kConnected,      "RDMA WRITE Only",                O::write,              request,  only,   {reth}},
    {0x0b, kConnected,      "RDMA WRITE Only with Immediate", O::write,              request,  only,   {reth, imm_dt}},
    {0x0c, kReliable,       "RDMA READ Request",              O::read_request,       request,  only,   {reth}},
    {0x0d, kReliable,       "RDMA READ response First",       O::read_response,      response, first,  {aeth}},
    {0x0e, kReliable,       "RDMA READ response Middle",      O::read_response,      response, middle, {}},
    {0x0f, kReliable,       "RDMA READ response Last",        O::read_response,      response, last,   {aeth}},
    {0x10, kReliable,       "RDMA READ response Only",        O::read_response,      response, only,   {aeth}},
    {0x11, kReliable,       "Acknowledge",                    O::acknowledge,        response, only,   {aeth}},
    {0x12, kReliable,       "ATOMIC Acknowledge",             O::atomic_acknowledge, response, only,   {aeth, atomic_ack_eth}},
    {0x13, kReliable,       "CmpSwap",                        O::compare_swap,       request,  only,   {atomic_eth}},
    {0x14, kReliable,       "FetchAdd",                       O::fetch_add,          request,  only,   {atomic_eth}},
    {0x16, RC | XRC,        "SEND Last with Invalidate",      O::send,               request,  last,   {ieth}},
    {0x17, RC | XRC,        "SEND Only with Invalidate",      O::send,               request,  only,   {ieth}},
    {0x1c, kReliable,       "FLUSH",                          O::flush,              request,  only,   {feth, reth}},
    {0x1d, kReliable,       "ATOMIC WRITE",                   O::atomic_write,       request,  only,   {reth}},
    {0x01, CNP,             "CNP",                            O::cnp,                notify,   only,   {}},
  };
  // clang-format on

  std::array<OpcodeInfo, 256> table{};
  for (const OperationRow& row : rows) {
    for (unsigned s = 0; s < std::size(kServices); s++) {
      if (!(row.services >> s & 1)) continue;
      OpcodeInfo& info = table[s << 5 | row.code];
      if (info.known()) throw "two rows claim one opcode";  // a compile error
      const ServiceRow& service = kServices[s];
      info.service = service.name;
      info.name = row.name;
      info.operation = row.operation;
      info.role = row.role;
      info.part = row.part;
      info.headers =
          row.headers | (row.role == response ? service.on_response : service.on_request);
      for (std::size_t e = 0; e < kExtCount; e++) {
        info.offset[e] = static_cast<u8>(info.headers.size(e));
      }
      info.headers_size = static_cast<u8>(info.headers.size());
    }
  }
  return table;
}

}  // namespace detail

inline constexpr std::array<OpcodeInfo, 256> kOpcodes = detail::build_opcodes();

constexpr const OpcodeInfo& opcode_info(u8 opcode) {
  return kOpcodes[opcode];
}

/// What a fast decoder needs of an opcode, in four bytes, so that all of it stays in the cache.
/// Offsets are in bytes from the start of the BTH; 0 says: not there.
struct OpcodeLayout {
  u8 head = 0;  // BTH and extended headers; 0: this opcode is not assigned
  u8 aeth = 0;
  u8 dma_length = 0;  // in the RETH
  u8 source_qp = 0;   // the four bytes that end with it, in the DETH
};

inline constexpr std::array<OpcodeLayout, 256> kOpcodeLayout = [] {
  std::array<OpcodeLayout, 256> table{};
  for (std::size_t i = 0; i < table.size(); i++) {
    const OpcodeInfo& info = kOpcodes[i];
    if (!info.known()) continue;
    const auto at = [&](Ext e, std::size_t inside) {
      if (!info.headers.has(e)) return u8{0};
      return static_cast<u8>(sizeof(Bth) + info.offset[static_cast<std::size_t>(e)] + inside);
    };
    table[i] = {static_cast<u8>(sizeof(Bth) + info.headers_size), at(Ext::aeth, 0),
                at(Ext::reth, 12), at(Ext::deth, 4)};
  }
  return table;
}();

// The specification's own figures (IBTA table 38, A14, A17, A19).
static_assert(opcode_info(0x0b).headers_size == 16 + 4);      // RETH + ImmDt
static_assert(opcode_info(0x12).headers_size == 4 + 8);       // AETH + AtomicAckETH
static_assert(opcode_info(0x14).headers_size == 28);          // AtomicETH
static_assert(opcode_info(0x1c).headers_size == 4 + 16);      // FETH + RETH
static_assert(opcode_info(0x53).headers_size == 4 + 8 + 28);  // RD CmpSwap
static_assert(opcode_info(0x51).headers_size == 4 + 4);       // RD Acknowledge: no DETH
static_assert(opcode_info(0x64).headers_size == 8);           // UD SEND Only
static_assert(opcode_info(0x65).headers_size == 8 + 4);       // UD SEND Only with Immediate
static_assert(opcode_info(0xa4).headers_size == 4);           // XRC SEND Only
static_assert(opcode_info(0xb1).headers_size == 4);           // XRC Acknowledge: AETH only
static_assert(opcode_info(kCnpOpcode).role == Role::notify);
static_assert(!opcode_info(0x15).known() && !opcode_info(0xff).known());
static_assert(!opcode_info(0x2c).known() && !opcode_info(0x60).known());  // UC READ, UD First
static_assert(kOpcodeLayout[0x0c].dma_length == 12 + 12 && kOpcodeLayout[0x11].aeth == 12);

}  // namespace roce
