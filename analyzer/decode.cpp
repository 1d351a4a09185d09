// SPDX-License-Identifier: BSD-3-Clause
#include "decode.hpp"

#include "protocol_name.hpp"
#include "roce/icrc.hpp"
#include "roce/net/observe.hpp"

namespace rocetrace {

using roce::flow::Observation;
using roce::net::Sighting;

std::span<const Observation> Decoder::decode(const FrameBatch& batch) {
  if (observations_.size() < batch.size()) observations_.resize(batch.size());
  std::size_t found = 0;
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
        const bool good = roce::check_icrc(frame.bytes, located) == roce::IcrcCheck::good;
        packet.flags |= good ? roce::flow::kIcrcGood : roce::flow::kIcrcBad;
      }
      counts.roce++;
      if (packet.has(roce::flow::kUndecoded)) counts.undecoded++;
      found++;
      continue;
    }
    if (sighting == Sighting::not_roce_on_4791) counts.not_roce_on_4791++;
    if (sighting == Sighting::undecoded) counts.undecoded++;
    protocols_[std::string(protocol_name(frame))]++;
  }
  return {observations_.data(), found};
}

}  // namespace rocetrace
