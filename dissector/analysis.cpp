// SPDX-License-Identifier: GPL-2.0-or-later
// The tracker judges; here its verdicts are kept by frame, and packets are linked to each other:
// requests to their answers, messages to their packets, NAKs to what they led to.

#include "analysis.hpp"

#include <algorithm>

#include "roce/cm_message.hpp"

namespace dissector {

using namespace roce;
using flow::PacketClass, flow::StreamKind;

const Record* Analysis::observe(Sighted& sighted, IcrcStatus icrc) {
  flow::Observation& seen = sighted.seen;
  if (icrc == IcrcStatus::good) seen.flags |= flow::kIcrcGood;
  if (icrc == IcrcStatus::bad) seen.flags |= flow::kIcrcBad;
  flow::Arrival arrival;
  tracker_.observe({&seen, 1}, {&arrival, 1});
  if (seen.dest_qp == kCmQueuePair) {
    if (const auto message = decode_cm(sighted.packet)) tracker_.observe_cm(seen, *message);
  }
  settle();

  Record& record = records_.emplace_back();
  record.frame = static_cast<u32>(seen.frame);
  record.bth_offset = static_cast<u16>(sighted.located.bth_offset);
  record.half_flow = arrival.flow;
  record.episode = arrival.episode;
  record.missing = arrival.missing;
  record.packet_class = arrival.packet_class;
  record.provisional = arrival.provisional;
  record.stream = arrival.stream;
  record.repeated_response = arrival.repeated_response;
  record.icrc = icrc;

  if (arrival.flow == 0) return &record;  // one half-flow too many: not followed
  if (notes_.size() <= arrival.flow) notes_.resize(arrival.flow + 1);
  number_stream(arrival.flow);
  Notes& notes = notes_[arrival.flow];
  if (seen.ecn() == 3) {
    notes.last_ce = seen.time;
    notes.ces++;
  }
  if (arrival.packet_class == PacketClass::duplicate_capture) {
    if (const Waiting* const before = notes.waiting.find_sent(Psn(seen.psn))) {
      record.original = before->record->frame;
    }
    return &record;
  }
  switch (arrival.stream) {
    case StreamKind::request: observe_request(sighted, record); break;
    case StreamKind::response: observe_response(sighted, record); break;
    case StreamKind::cnp: observe_cnp(sighted, record); break;
    case StreamKind::other: break;
  }
  return &record;
}

void Analysis::finish() {
  tracker_.finish();
  settle();
}

void Analysis::settle() {
  flow::Settlements& settled = tracker_.settlements();
  for (const flow::SettledClass& verdict : settled.classes) {
    const auto at =
        std::lower_bound(records_.begin(), records_.end(), verdict.frame,
                         [](const Record& record, u64 frame) { return record.frame < frame; });
    if (at == records_.end() || at->frame != verdict.frame) continue;
    at->packet_class = verdict.packet_class;
    at->episode = verdict.episode;
    at->provisional = false;
  }
  settled.classes.clear();
  for (const flow::SettledEpisode& verdict : settled.episodes) {
    if (episodes_.size() <= verdict.number) episodes_.resize(verdict.number + 1);
    episodes_[verdict.number] = {verdict.cause, verdict.place, verdict.packets};
  }
  settled.episodes.clear();
}

const Record* Analysis::find(uint32_t frame, std::size_t bth_offset) {
  const auto fits = [&](std::size_t i) {
    return i < records_.size() && records_[i].frame == frame &&
           records_[i].bth_offset == static_cast<u16>(bth_offset);
  };
  // Packets are mostly asked for in order.
  if (fits(last_found_ + 1)) return &records_[++last_found_];
  const auto first =
      std::lower_bound(records_.begin(), records_.end(), frame,
                       [](const Record& record, uint32_t wanted) { return record.frame < wanted; });
  for (auto i = static_cast<std::size_t>(first - records_.begin());
       i < records_.size() && records_[i].frame == frame; i++) {
    if (fits(i)) {
      last_found_ = i;
      return &records_[i];
    }
  }
  return nullptr;
}

Analysis::Verdict Analysis::verdict(const Record& record) const {
  return record.episode < episodes_.size() ? episodes_[record.episode] : Verdict{};
}

const Record* Analysis::find_first(uint32_t frame) const {
  const auto at =
      std::lower_bound(records_.begin(), records_.end(), frame,
                       [](const Record& record, uint32_t wanted) { return record.frame < wanted; });
  return at != records_.end() && at->frame == frame ? &*at : nullptr;
}

std::optional<uint32_t> Analysis::source_qp(const Record& record) const {
  const u32 partner = tracker_.flows().at(record.half_flow).partner;
  if (partner == 0) return std::nullopt;
  return tracker_.flows().at(partner).key.dest_qp();
}

uint32_t Analysis::message_length(const Record& record) const {
  // A response is part of a message that the other half-flow asked for.
  const flow::HalfFlow& own = tracker_.flows().at(record.half_flow);
  const u32 asker = record.stream == StreamKind::response ? own.partner : own.id;
  const Notes& notes = notes_[asker];
  return record.message < notes.messages.size() ? notes.messages[record.message] : 0;
}

/// A half-flow gets a number with its first packet, and both of a pair the smaller one. A response
/// finds its pair at once, so numbers hardly ever change after a packet was shown.
void Analysis::number_stream(uint32_t half_flow) {
  Notes& notes = notes_[half_flow];
  const u32 partner = tracker_.flows().at(half_flow).partner;
  const bool is_new = tracker_.flows().at(half_flow).packets() == 1;
  if (partner == 0 || partner >= notes_.size()) {
    if (is_new) notes.stream = streams_++;
    return;
  }
  if (notes.joined_with == partner) return;
  Notes& other = notes_[partner];
  const bool rejoined = notes.joined_with != 0 || other.joined_with != 0;
  notes.stream = rejoined ? streams_++
                 : is_new ? other.stream
                          : std::min(notes.stream, other.stream);
  other.stream = notes.stream;
  notes.joined_with = partner;
  other.joined_with = half_flow;
}

}  // namespace dissector
