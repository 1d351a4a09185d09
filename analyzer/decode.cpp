// SPDX-License-Identifier: BSD-3-Clause
#include "decode.hpp"

#include "icrc_isal.hpp"
#include "protocol_name.hpp"
#include "roce/icrc.hpp"
#include "roce/net/observe.hpp"

namespace rocetrace {

using roce::u32;
using roce::flow::Observation;
using roce::net::Sighting;

namespace {

constexpr u32 kLeastTunnel = 28;  // bytes of IPv4 and of GRE with a sequence number

}  // namespace

void Decoder::note_cm(roce::Bytes bytes, std::size_t wire_size, std::size_t index) {
  const auto packet = roce::RocePacket::decode(bytes, wire_size);
  if (auto message = roce::decode_cm(packet)) cm_messages_.push_back({index, *message});
}

void Decoder::note_other(const Frame& frame, std::size_t index, Sighting sighting,
                         SightingCounts& counts) {
  others_.push_back(index);
  mirrors_.note(frame);
  if (sighting == Sighting::not_roce_on_4791) counts.not_roce_on_4791++;
  if (sighting == Sighting::undecoded) counts.undecoded++;
  protocols_[std::string(protocol_name(frame))]++;
}

std::span<Observation> Decoder::decode(const FrameBatch& batch) {
  if (observations_.size() < batch.size()) observations_.resize(batch.size());
  Observation* const begin = observations_.data();
  Observation* next = begin;
  cm_messages_.clear();
  others_.clear();
  std::size_t capture = ~std::size_t{0};
  SightingCounts* counts = nullptr;
  for (const Frame& frame : batch) {
    if (frame.capture != capture) [[unlikely]] {
      capture = frame.capture;
      if (capture >= counts_.size()) counts_.resize(capture + 1);
      counts = &counts_[capture];
    }
    Observation& packet = *next;
    roce::net::Located located;
    const Sighting sighting = roce::net::observe_frame(
        frame.bytes, frame.wire_size, frame.link_type, addresses_, packet, located);
    if (sighting != Sighting::roce) [[unlikely]] {
      note_other(frame, static_cast<std::size_t>(&frame - batch.data()), sighting, *counts);
      continue;
    }
    if (located.network_offset >= kLeastTunnel) [[unlikely]]
      mirrors_.note(frame);
    packet.time = frame.time;
    packet.frame = frame.number;
    if (packet.has(roce::flow::kHasIcrc)) {
      const bool good = roce::check_icrc(frame.bytes, located, crc32_isal) == roce::IcrcCheck::good;
      packet.flags |= good ? roce::flow::kIcrcGood : roce::flow::kIcrcBad;
    }
    if (packet.dest_qp == roce::kCmQueuePair) [[unlikely]] {
      note_cm(frame.bytes.subspan(located.bth_offset), located.bth_size,
              static_cast<std::size_t>(next - begin));
    }
    if (RequestRing::names_memory(packet.opcode))
      requests_.note(packet, frame.bytes.subspan(located.bth_offset));
    counts->roce++;
    if (packet.has(roce::flow::kUndecoded)) [[unlikely]]
      counts->undecoded++;
    ++next;
  }
  return {begin, next};
}

}  // namespace rocetrace
