// SPDX-License-Identifier: BSD-3-Clause
#include "findings/flow_log.hpp"

#include <algorithm>

namespace rocetrace {

using roce::flow::Arrival;
using roce::flow::Observation;
using roce::flow::PacketClass;
using roce::flow::StreamKind;

namespace {

constexpr u64 kBurstGap = 1'000'000;  // nanoseconds between packets of one burst

void note_burst(Resending& log, const Observation& packet) {
  Burst& burst = log.burst;
  if (burst.packets == 0 || packet.time > burst.last_time + kBurstGap) {
    burst = {0, packet.frame, packet.frame, packet.time, packet.time};
    log.bursts++;
  }
  burst.packets++;
  burst.last_frame = packet.frame;
  burst.last_time = std::max(burst.last_time, packet.time);
  if (burst.packets > log.longest_burst.packets) log.longest_burst = burst;
}

}  // namespace

const Sightings& FlowLog::of(Happening what) const {
  static const Sightings kNone{};
  const auto entry = std::ranges::find(entries_, what, &Entry::what);
  return entry != entries_.end() ? entry->seen : kNone;
}

Sightings& FlowLog::at(Happening what) {
  const auto entry = std::ranges::find(entries_, what, &Entry::what);
  return entry != entries_.end() ? entry->seen : entries_.emplace_back(Entry{what, {}}).seen;
}

Resending& FlowLog::resent() {
  if (!resending_) resending_ = std::make_unique<Resending>();
  return *resending_;
}

void FlowLog::note_rnr_nak(const Observation& packet, u64 timer) {
  // Answers keep their order: refused once more, the PSN had not been lost when those NAKs were
  // sent.
  if (last_rnr_nak_ != 0 && packet.psn == last_rnr_psn_) naks_of_refusal_ += doubtful_naks_;
  doubtful_naks_ = 0;
  last_rnr_nak_ = packet.time;
  last_rnr_timer_ = timer;
  last_rnr_psn_ = packet.psn;
  tried_since_rnr_ = false;
}

void FlowLog::note_sequence_nak(const Observation& packet) {
  last_sequence_nak_ = packet.time;
  if (last_rnr_nak_ == 0 || packet.psn != last_rnr_psn_) return;
  // Behind the next try: it is about the run before that, or the try was lost.
  (tried_since_rnr_ ? doubtful_naks_ : naks_of_refusal_)++;
}

// A try that follows a NAK in doubt and no RNR NAK: the sender took it for a loss.
void FlowLog::note_restart(u32 psn) {
  if (psn == last_rnr_psn_) tried_since_rnr_ = true;
  doubtful_naks_ = 0;
}

u64 FlowLog::naks_of_refusal(roce::Psn una) const {
  const bool arrived = roce::distance(roce::Psn(last_rnr_psn_), una) > 0;
  return naks_of_refusal_ + (arrived ? doubtful_naks_ : 0);
}

void FlowLogs::note_series(FlowLog& log, const Observation& packet) {
  log.note_restart(packet.psn);
  Resending& resent = log.resent();
  ResendSeries& series = resent.series;
  if (series.resends == 0 || series.psn != packet.psn) {
    series = {};
    series.psn = packet.psn;
  } else {
    series.last_gap = packet.time - std::min(series.seen.last_time, packet.time);
  }
  const u64 before = series.seen.last_time;
  if (series.resends < ResendSeries::kKept) series.times[series.resends] = packet.time;
  series.resends++;
  if (log.last_rnr_nak_ > before) {
    series.after_rnr_nak++;
  } else if (log.last_sequence_nak_ > before) {
    series.after_sequence_nak++;
  }
  series.wire_size = packet.wire_size;
  series.seen.add(packet.frame, packet.time);
  if (series.resends >= resent.longest.resends) resent.longest = series;
}

const FlowLog& FlowLogs::of(u32 half_flow) const {
  static const FlowLog kEmpty{};
  return half_flow < logs_.size() && logs_[half_flow] ? *logs_[half_flow] : kEmpty;
}

FlowLog& FlowLogs::at(u32 half_flow) {
  if (half_flow >= logs_.size()) logs_.resize(half_flow + half_flow / 2 + 16);
  if (!logs_[half_flow]) logs_[half_flow] = std::make_unique<FlowLog>();
  return *logs_[half_flow];
}

void FlowLogs::note(const Observation& packet, const Arrival& arrival,
                    const roce::flow::Tracker& tracker) {
  if (arrival.flow == 0) return;
  FlowLog& log = at(arrival.flow);
  const auto saw = [&](Happening what, u64 how_many = 1) {
    log.at(what).add(packet.frame, packet.time, how_many);
  };
  if (packet.has(roce::flow::kIcrcBad)) saw(Happening::bad_icrc);
  switch (arrival.packet_class) {
    case PacketClass::gap: saw(Happening::gap, arrival.missing); break;
    case PacketClass::reordered: saw(Happening::reordered); break;
    case PacketClass::duplicate_capture: saw(Happening::duplicate_capture); break;
    case PacketClass::stale: saw(Happening::stale); break;
    case PacketClass::retransmission:
      saw(Happening::retransmission);
      note_burst(log.resent(), packet);
      if (arrival.episode != log.resent().last_episode) note_series(log, packet);
      log.resent().last_episode = arrival.episode;
      break;
    default: break;
  }
  if (arrival.stream == StreamKind::cnp) saw(Happening::cnp);
  if (arrival.stream != StreamKind::response) return;
  if (arrival.packet_class == PacketClass::duplicate_capture) return;
  if (arrival.missing > 0) saw(Happening::response_gap, arrival.missing);
  if (arrival.repeated_response) saw(Happening::repeated_response);
  if (!packet.has(roce::flow::kHasAeth)) return;
  const roce::Syndrome syndrome(packet.syndrome());
  const u32 asker = tracker.flows().at(arrival.flow).partner;
  if (syndrome.is_rnr_nak()) {
    saw(Happening::rnr_nak);
    if (asker != 0) at(asker).note_rnr_nak(packet, syndrome.rnr_timer_ns());
  } else if (syndrome.is_nak()) {
    switch (syndrome.nak_code()) {
      case roce::NakCode::sequence:
        saw(Happening::sequence_nak);
        if (asker != 0) at(asker).note_sequence_nak(packet);
        break;
      case roce::NakCode::invalid_request: saw(Happening::invalid_request_nak); break;
      case roce::NakCode::remote_access: saw(Happening::remote_access_nak); break;
      case roce::NakCode::remote_operational: saw(Happening::remote_operational_nak); break;
      case roce::NakCode::invalid_rd_request: break;
    }
  }
}

}  // namespace rocetrace
