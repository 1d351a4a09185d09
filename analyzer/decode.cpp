// SPDX-License-Identifier: BSD-3-Clause
#include "decode.hpp"

#include "icrc_isal.hpp"
#include "protocol_name.hpp"
#include "roce/icrc.hpp"
#include "roce/net/observe.hpp"

namespace rocetrace {

using roce::flow::Observation;
using roce::net::Sighting;

void Decoder::note_cm(roce::Bytes bytes, std::size_t wire_size, std::size_t index) {
  const auto packet = roce::RocePacket::decode(bytes, wire_size);
  if (auto message = roce::decode_cm(packet)) cm_messages_.push_back({index, *message});
}

std::span<const Observation> Decoder::decode(const FrameBatch& batch) {
  if (observations_.size() < batch.size()) observations_.resize(batch.size());
  std::size_t found = 0;
  cm_messages_.clear();
  others_.clear();
  for (const Frame& frame : batch) {
    if (frame.capture >= counts_.size()) counts_.resize(std::size_t{frame.capture} + 1);
    SightingCounts& counts = counts_[frame.capture];
    Observation& packet = observations_[found];
    roce::net::Located located;
    const Sighting sighting = roce::net::observe_frame(
        frame.bytes, frame.wire_size, frame.link_type, addresses_, packet, located);
    if (sighting == Sighting::roce) [[likely]] {
      packet.time = frame.time;
      packet.frame = frame.number;
      if (packet.has(roce::flow::kHasIcrc)) {
        const bool good =
            roce::check_icrc(frame.bytes, located, crc32_isal) == roce::IcrcCheck::good;
        packet.flags |= good ? roce::flow::kIcrcGood : roce::flow::kIcrcBad;
      }
      if (packet.dest_qp == roce::kCmQueuePair) [[unlikely]] {
        note_cm(frame.bytes.subspan(located.bth_offset), located.bth_size, found);
      }
      if (RequestRing::names_memory(packet.opcode))
        requests_.note(packet, frame.bytes.subspan(located.bth_offset));
      counts.roce++;
      if (packet.has(roce::flow::kUndecoded)) counts.undecoded++;
      found++;
      continue;
    }
    others_.push_back(static_cast<std::size_t>(&frame - batch.data()));
    if (sighting == Sighting::not_roce_on_4791) counts.not_roce_on_4791++;
    if (sighting == Sighting::undecoded) counts.undecoded++;
    protocols_[std::string(protocol_name(frame))]++;
  }
  return {observations_.data(), found};
}

}  // namespace rocetrace
