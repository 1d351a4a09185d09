// SPDX-License-Identifier: BSD-3-Clause
// Builds RoCE frames for tests: Packet{.opcode = 0x0a, .psn = 5, .payload_size = 100}.frame().
// Only what matters to a test is written; lengths, padding, checksums and the ICRC follow.

#pragma once

#include <arpa/inet.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "roce/icrc.hpp"
#include "roce/net/address.hpp"
#include "roce/opcode.hpp"

namespace roce::test {

using Buffer = std::vector<u8>;

/// Appends the low `bytes` bytes of `value`, most significant first.
inline void put(Buffer& out, u64 value, std::size_t bytes) {
  for (std::size_t i = bytes; i-- > 0;) out.push_back(static_cast<u8>(value >> 8 * i));
}
inline void put(Buffer& out, const Buffer& more) {
  out.insert(out.end(), more.begin(), more.end());
}
inline void put_at(Buffer& out, std::size_t at, u64 value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i++)
    out[at + i] = static_cast<u8>(value >> 8 * (bytes - 1 - i));
}

/// Parses "10.0.0.1" or "fe80::1".
inline net::Address address(const std::string& text) {
  net::Address out;
  if (inet_pton(AF_INET, text.c_str(), out.octets.data()) == 1) {
    out.kind = net::AddressKind::ipv4;
  } else if (inet_pton(AF_INET6, text.c_str(), out.octets.data()) == 1) {
    out.kind = net::AddressKind::ipv6;
  } else {
    throw std::runtime_error("not an address: " + text);
  }
  return out;
}

struct Packet {
  u8 opcode = 0x04;  // RC SEND Only
  u32 dest_qp = 0x11;
  u32 psn = 0;
  std::size_t payload_size = 0;  // bytes, padding left out
  bool ack_requested = false;
  bool solicited = false;
  bool migration = true;
  bool fecn = false;
  bool becn = false;
  u16 pkey = 0xffff;
  u8 transport_version = 0;

  // Extended headers: each is written if the opcode has it.
  u8 syndrome = 0x1f;
  u32 msn = 0;
  u64 va = 0;
  u32 rkey = 0;
  std::optional<u32> dma_length = {};  // the payload's size if not given
  u64 swap_or_add = 0;
  u64 compare = 0;
  u64 original = 0;
  u32 immediate = 0;
  u32 qkey = 0x11111111;
  u32 source_qp = 0;
  u32 xrc_srq = 0;
  u32 ee_context = 0;
  u32 feth = 0;

  // The network. IPv6 when the addresses are; RoCEv1 takes IPv4 ones as IPv4-mapped GIDs.
  int version = 2;
  std::string source = "10.0.0.1";
  std::string destination = "10.0.0.2";
  u8 tos = 0;   // or traffic class
  u8 ttl = 64;  // or hop limit
  u16 ip_id = 0;
  u32 flow_label = 0;
  u16 source_port = 0xc000;
  u16 destination_port = 4791;
  std::vector<u16> vlans = {};  // TCIs, the outer one first
  u64 source_mac = 0x02'00'00'00'00'01;
  u64 destination_mac = 0x02'00'00'00'00'02;
  bool good_icrc = true;
  u8 payload_byte = 0xab;
  std::size_t trailer = 0;  // bytes after the packet, such as Ethernet padding

  /// The packet alone, from the BTH through an ICRC still to be filled in.
  Buffer transport() const {
    const bool is_cnp = opcode == kCnpOpcode;
    const std::size_t size = is_cnp ? kCnpReserved : payload_size;
    const std::size_t padding = (4 - size % 4) % 4;
    Buffer out;
    put(out, opcode, 1);
    put(out, u64{solicited} << 7 | u64{migration} << 6 | padding << 4 | transport_version, 1);
    put(out, pkey, 2);
    put(out, u64{fecn} << 7 | u64{becn} << 6, 1);
    put(out, dest_qp, 3);
    put(out, u64{ack_requested} << 7, 1);
    put(out, psn, 3);
    put_extended(out);
    out.insert(out.end(), size, is_cnp ? u8{0} : payload_byte);
    out.insert(out.end(), padding + kIcrcSize, 0);
    return out;
  }

  /// From the IP header or GRH on, with its ICRC.
  Buffer network() const {
    const Buffer body = transport();
    Buffer out = version == 1 ? grh(body.size()) : ip(8 + body.size());
    net::Located at = {0, static_cast<u32>(out.size()), static_cast<u32>(body.size()),
                       static_cast<u8>(version), true};
    if (version == 2) {
      put(out, source_port, 2);
      put(out, destination_port, 2);
      put(out, 8 + body.size(), 2);
      put(out, 0, 2);
      at.bth_offset += 8;
    }
    put(out, body);
    const u32 crc = icrc(out, at);
    put_at(out, out.size() - kIcrcSize, good_icrc ? crc : ~crc, kIcrcSize);
    return out;
  }

  /// The whole Ethernet frame.
  Buffer frame() const {
    Buffer out;
    put(out, destination_mac, 6);
    put(out, source_mac, 6);
    for (std::size_t i = 0; i < vlans.size(); i++) {
      put(out, i + 1 < vlans.size() ? 0x88a8 : 0x8100, 2);
      put(out, vlans[i], 2);
    }
    put(out, version == 1 ? 0x8915 : is_ipv4() ? 0x0800 : 0x86dd, 2);
    put(out, network());
    out.insert(out.end(), trailer, 0);
    return out;
  }

 private:
  bool is_ipv4() const { return address(source).kind == net::AddressKind::ipv4; }

  void put_extended(Buffer& out) const {
    const ExtSet headers = opcode_info(opcode).headers;
    if (headers.has(Ext::rdeth)) put(out, ee_context, 4);
    if (headers.has(Ext::deth)) put(out, qkey, 4), put(out, source_qp, 4);
    if (headers.has(Ext::xrceth)) put(out, xrc_srq, 4);
    if (headers.has(Ext::feth)) put(out, feth, 4);
    if (headers.has(Ext::reth)) {
      put(out, va, 8);
      put(out, rkey, 4);
      put(out, dma_length.value_or(static_cast<u32>(payload_size)), 4);
    }
    if (headers.has(Ext::atomic_eth)) {
      put(out, va, 8);
      put(out, rkey, 4);
      put(out, swap_or_add, 8);
      put(out, compare, 8);
    }
    if (headers.has(Ext::aeth)) put(out, syndrome, 1), put(out, msn, 3);
    if (headers.has(Ext::atomic_ack_eth)) put(out, original, 8);
    if (headers.has(Ext::imm_dt)) put(out, immediate, 4);
    if (headers.has(Ext::ieth)) put(out, rkey, 4);
  }

  Buffer ip(std::size_t payload) const { return is_ipv4() ? ipv4(payload) : ipv6(payload, 17); }
  Buffer grh(std::size_t payload) const { return ipv6(payload, 0x1b); }

  Buffer ipv4(std::size_t payload) const {
    Buffer out;
    put(out, 0x45, 1);
    put(out, tos, 1);
    put(out, 20 + payload, 2);
    put(out, ip_id, 2);
    put(out, 0x4000, 2);  // do not fragment
    put(out, ttl, 1);
    put(out, 17, 1);
    put(out, 0, 2);
    put(out, address(source).ipv4_value(), 4);
    put(out, address(destination).ipv4_value(), 4);
    u32 sum = 0;
    for (std::size_t i = 0; i < 20; i += 2) sum += u32{out[i]} << 8 | out[i + 1];
    while (sum > 0xffff) sum = (sum >> 16) + (sum & 0xffff);
    put_at(out, 10, ~sum & 0xffff, 2);
    return out;
  }

  Buffer ipv6(std::size_t payload, u8 next) const {
    Buffer out;
    put(out, u64{6} << 28 | u64{tos} << 20 | flow_label, 4);
    put(out, payload, 2);
    put(out, next, 1);
    put(out, ttl, 1);
    for (const std::string& text : {source, destination}) {
      const net::Address end = address(text);
      if (end.kind == net::AddressKind::ipv4) {
        put(out, 0, 8);
        put(out, 0xffff, 4);
        put(out, end.ipv4_value(), 4);
      } else {
        out.insert(out.end(), end.octets.begin(), end.octets.end());
      }
    }
    return out;
  }
};

}  // namespace roce::test
