// SPDX-License-Identifier: BSD-3-Clause
// The requests seen last that name memory: what a NAK that refuses one of them is about.

#pragma once

#include <optional>
#include <vector>

#include "roce/flow/observation.hpp"
#include "roce/opcode.hpp"
#include "roce/psn.hpp"
#include "roce/wire/headers.hpp"

namespace rocetrace {

/// The address part of a request: RETH, or AtomicETH.
struct RequestHeader {
  roce::u64 frame = 0;
  roce::u64 va = 0;  // virtual address at the responder
  roce::u32 rkey = 0;
  roce::u32 length = 0;                   // bytes
  roce::u32 source = 0, destination = 0;  // address ids
  roce::u32 dest_qp = 0;
  roce::u32 psn = 0;
  roce::u8 opcode = 0;
};

/// The latest of them, over all half-flows, so that memory and the cost per packet stay small.
class RequestRing {
 public:
  /// Whether packets with that opcode carry an address and a key.
  static constexpr bool names_memory(roce::u8 opcode) { return kAddressAt[opcode] != 0; }

  /// Takes a request; `bth` is the packet from its BTH on, as captured. Without such a header, or
  /// with one that was cut, nothing happens.
  void note(const roce::flow::Observation& packet, roce::Bytes bth) {
    const std::size_t at = kAddressAt[packet.opcode];
    if (at == 0 || bth.size() < at + 12) return;
    RequestHeader& kept = headers_[count_++ % kKept];
    kept.frame = packet.frame;
    kept.va = *roce::read<roce::be64>(bth.subspan(at));
    kept.rkey = *roce::read<roce::be32>(bth.subspan(at + 8));
    const bool sized = packet.has(roce::flow::kHasDmaLength);
    kept.length = sized ? packet.dma_length : 8;
    kept.source = packet.source;
    kept.destination = packet.destination;
    kept.dest_qp = packet.dest_qp;
    kept.psn = packet.psn;
    kept.opcode = packet.opcode;
  }

  /// The request, or the beginning of the message, that `nak` answers with its PSN.
  std::optional<RequestHeader> asked_by(const roce::flow::Observation& nak,
                                        roce::u32 asker_qp) const {
    const std::size_t kept = count_ < kKept ? count_ : kKept;
    for (std::size_t i = 1; i <= kept; i++) {
      const RequestHeader& header = headers_[(count_ - i) % kKept];
      if (header.source != nak.destination || header.destination != nak.source) continue;
      if (asker_qp != 0 && header.dest_qp != asker_qp) continue;
      const roce::i32 behind = roce::distance(roce::Psn(header.psn), roce::Psn(nak.psn));
      if (behind >= 0 && behind < kMostPackets) return header;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kKept = 4096;
  static constexpr roce::i32 kMostPackets = 1 << 22;  // of one message

  // Offset of the virtual address from the BTH, by opcode; 0: it has none.
  static constexpr std::array<roce::u8, 256> kAddressAt = [] {
    std::array<roce::u8, 256> table{};
    for (std::size_t opcode = 0; opcode < table.size(); opcode++) {
      const roce::OpcodeInfo& info = roce::kOpcodes[opcode];
      for (const roce::Ext ext : {roce::Ext::reth, roce::Ext::atomic_eth})
        if (info.known() && info.headers.has(ext))
          table[opcode] =
              static_cast<roce::u8>(sizeof(roce::Bth) + info.offset[static_cast<std::size_t>(ext)]);
    }
    return table;
  }();

  std::vector<RequestHeader> headers_ = std::vector<RequestHeader>(kKept);
  std::size_t count_ = 0;
};

}  // namespace rocetrace
