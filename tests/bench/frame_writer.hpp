// SPDX-License-Identifier: BSD-3-Clause
// Builds RoCEv2 frames with valid checksums and ICRC, as fast as a benchmark's input needs them.
//
// It shares nothing with the decoding core but the integer types, so that a misunderstanding there
// does not repeat itself here.

#pragma once

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "roce/wire/bytes.hpp"

namespace bench {

using namespace roce;

/// Writes big-endian integers one after another.
class ByteWriter {
 public:
  explicit ByteWriter(u8* at) : at_(at) {}
  u8* at() const { return at_; }
  void u8s(u8 value) { *at_++ = value; }
  void u16s(u32 value) { put(value, 2); }
  void u24s(u32 value) { put(value, 3); }
  void u32s(u32 value) { put(value, 4); }
  void u64s(u64 value) { put(value, 8); }
  void zeros(std::size_t count) { at_ = std::fill_n(at_, count, u8{0}); }
  void bytes(Bytes from) {
    if (!from.empty()) std::memcpy(at_, from.data(), from.size());
    at_ += from.size();
  }

 private:
  void put(u64 value, int size) {
    for (int i = size - 1; i >= 0; --i) *at_++ = static_cast<u8>(value >> (8 * i));
  }
  u8* at_;
};

/// One RoCEv2 packet to be built. Hosts are small numbers that become addresses.
struct FrameSpec {
  bool v6 = false;
  bool vlan = false;
  u8 tos = 0;  // or traffic class
  u8 opcode = 0;
  bool solicited = false;
  bool ack_requested = false;
  bool becn = false;
  u16 source_port = 0xc000;
  u16 ip_id = 0;
  u32 source = 0;
  u32 destination = 0;
  u32 dest_qp = 0;
  u32 psn = 0;
  Bytes headers = {};  // the extended headers
  Bytes payload = {};  // whole, however little is captured; at most kMaxPayload
};

/// What was built: valid until the next build().
struct BuiltFrame {
  Bytes captured;
  u32 wire_size;
};

class FrameWriter {
 public:
  static constexpr std::size_t kMaxPayload = 4096;

  /// `snap`: bytes to keep of each frame; 0 keeps all.
  explicit FrameWriter(u32 snap) : snap_(snap) {}

  BuiltFrame build(const FrameSpec& spec) {
    ByteWriter out(frame_.data());
    const auto payload_size = static_cast<u32>(spec.payload.size());
    const u32 pad = -payload_size & 3;
    const u32 udp_size =
        8 + kBthSize + static_cast<u32>(spec.headers.size()) + payload_size + pad + kIcrcSize;
    put_ethernet(out, spec);
    u8* const ip = out.at();
    spec.v6 ? put_ipv6(out, spec, udp_size) : put_ipv4(out, spec, udp_size);
    out.u16s(spec.source_port);
    out.u16s(4791);
    out.u16s(udp_size);
    out.u16s(0);
    put_bth(out, spec, pad);
    u8* const after_bth = out.at();
    out.bytes(spec.headers);

    const auto headers_size = static_cast<u32>(out.at() - frame_.data());
    const u32 wire_size = headers_size + payload_size + pad + kIcrcSize;
    const u32 captured = snap_ ? std::min(snap_, wire_size) : wire_size;
    if (captured == wire_size) {
      out.bytes(spec.payload);
      out.zeros(pad);
      const u32 crc = icrc(ip, spec.v6, Bytes(after_bth, out.at()));
      std::memcpy(out.at(), &crc, sizeof crc);  // least significant byte first
    } else if (captured > headers_size) {
      out.bytes(spec.payload.first(std::min<std::size_t>(payload_size, captured - headers_size)));
      out.zeros(pad + kIcrcSize);  // the cut may lie in these
    }
    return {Bytes(frame_.data(), captured), wire_size};
  }

 private:
  static constexpr u32 kBthSize = 12, kIcrcSize = 4;

  static void put_mac(ByteWriter& out, u32 host) {
    out.u16s(0x0200);
    out.u32s(host);
  }

  static void put_ethernet(ByteWriter& out, const FrameSpec& spec) {
    put_mac(out, spec.destination);
    put_mac(out, spec.source);
    if (spec.vlan) {
      out.u16s(0x8100);
      out.u16s(3 << 13 | (100 + (std::min(spec.source, spec.destination) & 7)));
    }
    out.u16s(spec.v6 ? 0x86dd : 0x0800);
  }

  static void put_ipv4(ByteWriter& out, const FrameSpec& spec, u32 udp_size) {
    u8* const start = out.at();
    out.u8s(0x45);
    out.u8s(spec.tos);
    out.u16s(20 + udp_size);
    out.u16s(spec.ip_id);
    out.u16s(0x4000);  // don't fragment
    out.u8s(63);
    out.u8s(17);
    out.u16s(0);
    out.u32s(0x0a000001 + spec.source);
    out.u32s(0x0a000001 + spec.destination);
    u32 sum = 0;
    for (int i = 0; i < 20; i += 2) sum += u32{start[i]} << 8 | start[i + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    ByteWriter(start + 10).u16s(~(sum + (sum >> 16)) & 0xffff);
  }

  static void put_ipv6(ByteWriter& out, const FrameSpec& spec, u32 udp_size) {
    out.u32s(6u << 28 | u32{spec.tos} << 20 | spec.source_port);
    out.u16s(udp_size);
    out.u8s(17);
    out.u8s(63);
    for (const u32 host : {spec.source, spec.destination}) {
      out.u16s(0xfd00);
      out.zeros(10);
      out.u32s(1 + host);
    }
  }

  static void put_bth(ByteWriter& out, const FrameSpec& spec, u32 pad) {
    out.u8s(spec.opcode);
    out.u8s(static_cast<u8>(u32{spec.solicited} << 7 | 1u << 6 | pad << 4));  // 1 << 6: MigReq
    out.u16s(0xffff);
    out.u8s(spec.becn ? 0x40 : 0);
    out.u24s(spec.dest_qp);
    out.u8s(spec.ack_requested ? 0x80 : 0);
    out.u24s(spec.psn);
  }

  // IBTA vol 1, 7.8.1 and annex A17: eight bytes of ones, then what routers may change as ones.
  static u32 icrc(const u8* ip, bool v6, Bytes rest) {
    std::array<u8, 8 + 40 + 8 + kBthSize> masked;
    masked.fill(0xff);
    u8* const network = masked.data() + 8;
    const std::size_t network_size = v6 ? 40 : 20;
    std::memcpy(network, ip, network_size + 8 + kBthSize);
    if (v6) {
      network[0] |= 0x0f;
      network[1] = network[2] = network[3] = network[7] = 0xff;
    } else {
      network[1] = network[8] = network[10] = network[11] = 0xff;
    }
    u8* const udp = network + network_size;
    udp[6] = udp[7] = udp[8 + 4] = 0xff;
    const u32 crc = crc32_gzip_refl(0, masked.data(), 8 + network_size + 8 + kBthSize);
    return crc32_gzip_refl(crc, rest.data(), rest.size());
  }

  u32 snap_;
  std::array<u8, kMaxPayload + 256> frame_ = {};
};

}  // namespace bench
