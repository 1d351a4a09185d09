// SPDX-License-Identifier: BSD-3-Clause
// One RoCE packet, from BTH to ICRC.
//
// Captures are cut short by snap lengths and packets are damaged on the wire, so decoding never
// fails as a whole: it keeps what it understood and says where and why it stopped.

#pragma once

#include <algorithm>

#include "roce/opcode.hpp"
#include "roce/psn.hpp"

namespace roce {

enum class StopReason : u8 {
  none,
  truncated,       // the capture ends
  unknown_opcode,  // nothing beyond the BTH can be told apart
  bad_length       // the packet is shorter than its opcode and padding need
};

/// Why decoding ended before the end of the packet.
struct Stop {
  StopReason reason = StopReason::none;
  std::size_t offset = 0;   // from the BTH, bytes
  std::size_t needed = 0;   // bytes wanted there
  std::size_t present = 0;  // bytes found there

  constexpr explicit operator bool() const { return reason != StopReason::none; }
  constexpr bool operator==(const Stop&) const = default;
};

class RocePacket {
 public:
  /// Decodes `bytes`, which start at the BTH. `wire_size` is the packet's length in bytes from
  /// there, as the headers before it say; bytes beyond it are not looked at.
  static RocePacket decode(Bytes bytes, std::size_t wire_size);

  /// False when not even the BTH was captured; then it reads as zeros.
  bool has_bth() const { return has_bth_; }
  const Bth& bth() const { return bth_; }
  const OpcodeInfo& opcode() const { return opcode_info(bth_.opcode); }
  Psn psn() const { return Psn(bth_.psn); }
  u32 dest_qp() const { return bth_.dest_qp; }

  /// The extended header of type H, if this opcode has one and it was captured.
  template <class H>
  std::optional<H> get() const {
    if (!opcode().headers.has(H::kKind)) return std::nullopt;
    const std::size_t at = opcode().offset[static_cast<std::size_t>(H::kKind)];
    if (at > extended_.size()) return std::nullopt;
    return read<H>(extended_.subspan(at));
  }

  Bytes extended() const { return extended_; }                // extended headers, captured part
  Bytes payload() const { return payload_; }                  // captured part, padding left out
  std::size_t payload_size() const { return payload_size_; }  // on the wire
  /// The four bytes as they lie, first one highest; nothing unless captured.
  std::optional<u32> icrc() const { return icrc_; }
  const Stop& stop() const { return stop_; }

 private:
  Bth bth_{};
  bool has_bth_ = false;
  Bytes extended_;
  Bytes payload_;
  std::size_t payload_size_ = 0;
  std::optional<u32> icrc_;
  Stop stop_;
};

inline RocePacket RocePacket::decode(Bytes bytes, std::size_t wire_size) {
  RocePacket packet;
  bytes = bytes.first(std::min(bytes.size(), wire_size));
  const std::optional<Bth> bth = read<Bth>(bytes);
  if (!bth) {
    packet.stop_ = {StopReason::truncated, 0, sizeof(Bth), bytes.size()};
    return packet;
  }
  packet.bth_ = *bth;
  packet.has_bth_ = true;

  const OpcodeInfo& info = packet.opcode();
  if (!info.known()) {
    packet.stop_ = {StopReason::unknown_opcode, 0, 1, 1};
    return packet;
  }

  const std::size_t head = sizeof(Bth) + info.headers_size;
  const std::size_t tail = kIcrcSize + bth->pad_count();
  const Bytes rest = bytes.subspan(sizeof(Bth));
  packet.extended_ = rest.first(std::min<std::size_t>(info.headers_size, rest.size()));
  if (wire_size < head + tail) {
    packet.stop_ = {StopReason::bad_length, sizeof(Bth), info.headers_size + tail,
                    wire_size - sizeof(Bth)};
    return packet;
  }

  // Lengths are known from the headers even where the bytes are not.
  packet.payload_size_ = wire_size - head - tail;
  if (rest.size() < info.headers_size) {
    packet.stop_ = {StopReason::truncated, sizeof(Bth), info.headers_size, rest.size()};
    return packet;
  }

  const Bytes body = bytes.subspan(head);
  packet.payload_ = body.first(std::min(packet.payload_size_, body.size()));
  if (body.size() < packet.payload_size_ + tail) {
    packet.stop_ = {StopReason::truncated, head, packet.payload_size_ + tail, body.size()};
    return packet;
  }
  packet.icrc_ = *read<be32>(body.subspan(packet.payload_size_ + bth->pad_count()));
  return packet;
}

}  // namespace roce
