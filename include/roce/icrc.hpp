// SPDX-License-Identifier: BSD-3-Clause
// The invariant CRC at the end of every RoCE packet (IBTA 7.8.1, A16.5.4, A17.9.2): a CRC-32 over
// everything that no hop may change, with what hops do change read as ones.

#pragma once

#include <algorithm>

#include "roce/net/located.hpp"
#include "roce/wire/bytes.hpp"
#include "roce/wire/headers.hpp"

namespace roce {

/// Continues a CRC-32 (polynomial 0x04C11DB7, reflected, as Ethernet's) over `size` bytes. Start
/// with 0; the inversions before and after are the function's own, so that calls can be chained.
using Crc32 = u32 (*)(u32 crc, const u8* data, std::size_t size);

namespace detail {

inline constexpr std::size_t kSlices = 16;

// kCrcTables[k][b]: the CRC of byte b followed by k zero bytes.
inline constexpr std::array<std::array<u32, 256>, kSlices> kCrcTables = [] {
  std::array<std::array<u32, 256>, kSlices> tables{};
  for (u32 i = 0; i < 256; i++) {
    u32 crc = i;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb8'8320u : 0u);
    tables[0][i] = crc;
  }
  for (std::size_t k = 1; k < kSlices; k++) {
    for (std::size_t i = 0; i < 256; i++) {
      const u32 before = tables[k - 1][i];
      tables[k][i] = before >> 8 ^ tables[0][before & 0xff];
    }
  }
  return tables;
}();

}  // namespace detail

/// The portable Crc32: sixteen bytes a step, some 2 GB/s. Callers with many whole packets bring a
/// faster one.
constexpr u32 crc32(u32 crc, const u8* data, std::size_t size) {
  using detail::kCrcTables, detail::kSlices;
  crc = ~crc;
  for (; size >= kSlices; size -= kSlices, data += kSlices) {
    u32 next = 0;
    for (std::size_t i = 0; i < kSlices; i++) {
      const u8 byte = static_cast<u8>(i < 4 ? data[i] ^ (crc >> 8 * i) : data[i]);
      next ^= kCrcTables[kSlices - 1 - i][byte];
    }
    crc = next;
  }
  for (; size > 0; size--, data++) crc = crc >> 8 ^ kCrcTables[0][(crc ^ *data) & 0xff];
  return ~crc;
}

static_assert([] {
  const std::array<u8, 9> digits = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  return crc32(0, digits.data(), digits.size());
}() == 0xcbf4'3926);

/// What became of an ICRC. A packet that the capture cut is `not_captured`, never `bad`.
enum class IcrcCheck : u8 { good, bad, not_captured };

/// The ICRC that the packet should carry, in the order in which its bytes lie, first one highest
/// (as Observation::icrc). The caller provides that the packet was captured up to its ICRC.
inline u32 icrc(Bytes frame, const net::Located& at, Crc32 crc32_of = crc32) {
  constexpr std::size_t kUdp = 8, kLrh = 8, kMaskedBth = 5;
  const u8* const network = frame.data() + at.network_offset;
  const u8* const bth = frame.data() + at.bth_offset;

  // What has to be changed first is copied: the dummy or masked LRH, and the fixed part of the
  // network header; and a small packet as a whole, since a call costs more than the copy.
  constexpr std::size_t kSmall = 48;
  std::array<u8, 8 + 40 + kUdp + kMaskedBth + kSmall> head;
  u8* put = head.data();
  const auto copy = [&](const u8* from, std::size_t size) {
    std::memcpy(put, from, size);
    put += size;
  };
  const u8* ip = network;
  if (at.version == 0) {  // native InfiniBand: the LRH, its virtual lane masked
    copy(network, kLrh);
    head[0] |= 0xf0;
    ip += kLrh;
  } else {
    std::memset(put, 0xff, kLrh);
    put += kLrh;
  }

  const u8* const udp = at.version == 2 ? bth - kUdp : bth;
  const u8* ip_end = ip;
  if (ip < udp) {
    u8* const masked = put;
    const bool is_ipv4 = *ip >> 4 == 4;
    copy(ip, is_ipv4 ? 20 : 40);
    ip_end += is_ipv4 ? 20 : 40;
    if (is_ipv4) {
      masked[1] = masked[8] = masked[10] = masked[11] = 0xff;  // TOS, TTL, checksum
    } else {
      masked[0] |= 0x0f;                                     // traffic class, flow label
      masked[1] = masked[2] = masked[3] = masked[7] = 0xff;  // and hop limit
    }
  }

  u32 crc = 0;
  if (ip_end < udp) {  // IPv4 options, IPv6 extension headers
    crc = crc32_of(crc, head.data(), static_cast<std::size_t>(put - head.data()));
    crc = crc32_of(crc, ip_end, static_cast<std::size_t>(udp - ip_end));
    put = head.data();
  }
  if (udp < bth) {
    copy(udp, kUdp);
    put[-2] = put[-1] = 0xff;  // checksum
  }
  copy(bth, kMaskedBth);
  put[-1] = 0xff;  // FECN, BECN and the reserved bits beside them
  const u8* const rest = bth + kMaskedBth;
  const std::size_t rest_size = at.bth_size - kMaskedBth - kIcrcSize;
  if (rest_size <= kSmall) copy(rest, rest_size);
  crc = crc32_of(crc, head.data(), static_cast<std::size_t>(put - head.data()));
  if (rest_size > kSmall) crc = crc32_of(crc, rest, rest_size);
  // It is stored least significant byte first.
  return crc << 24 | (crc << 8 & 0xff'0000) | (crc >> 8 & 0xff00) | crc >> 24;
}

/// Checks the ICRC of a packet that observe_frame() has located in `frame`.
inline IcrcCheck check_icrc(Bytes frame, const net::Located& at, Crc32 crc32_of = crc32) {
  if (!at.has_icrc || at.bth_size < sizeof(Bth) + kIcrcSize) return IcrcCheck::not_captured;
  const std::size_t end = std::size_t{at.bth_offset} + at.bth_size;
  const u32 stored = *read<be32>(frame.subspan(end - kIcrcSize));
  return icrc(frame, at, crc32_of) == stored ? IcrcCheck::good : IcrcCheck::bad;
}

}  // namespace roce
