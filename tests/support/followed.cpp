// SPDX-License-Identifier: BSD-3-Clause
#include "support/followed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "roce/icrc.hpp"
#include "roce/net/observe.hpp"
#include "support/followed_capture.hpp"

namespace roce::test {

void expect_consistent(const Followed& followed) {
  const flow::FlowTable& flows = followed.tracker->flows();
  std::vector<std::array<u64, flow::kPacketClassNames.size()>> seen(flows.size() + 1);
  std::map<u32, u64> sent_again;
  for (const flow::Arrival& arrival : followed.arrivals) {
    if (arrival.stream != flow::StreamKind::request) continue;
    seen[arrival.flow][static_cast<std::size_t>(arrival.packet_class)]++;
    const bool again = arrival.packet_class == flow::PacketClass::retransmission;
    EXPECT_EQ(again, arrival.episode != 0);
    if (again) sent_again[arrival.episode]++;
  }
  const auto sum = [](const auto& list) {
    return std::accumulate(list.begin(), list.end(), u64{0});
  };
  for (u32 id = 1; id <= flows.size(); id++) {
    const flow::TroubleCounts counts = followed.counts(id);
    const auto of = [&](flow::PacketClass kind) {
      return seen[id][static_cast<std::size_t>(kind)];
    };
    EXPECT_EQ(counts.retransmissions, of(flow::PacketClass::retransmission)) << "flow " << id;
    EXPECT_EQ(counts.reordered, of(flow::PacketClass::reordered)) << "flow " << id;
    EXPECT_EQ(counts.duplicate_captures, of(flow::PacketClass::duplicate_capture)) << "flow " << id;
    EXPECT_EQ(counts.gaps, of(flow::PacketClass::gap)) << "flow " << id;
    EXPECT_EQ(counts.stale, of(flow::PacketClass::stale)) << "flow " << id;
    EXPECT_EQ(sum(counts.by_cause), counts.retransmissions) << "flow " << id;
    EXPECT_EQ(sum(counts.by_place), counts.retransmissions) << "flow " << id;
    EXPECT_EQ(counts.by_cause[0], 0u) << "flow " << id;
    EXPECT_EQ(counts.by_place[0], 0u) << "flow " << id;
  }
  u64 expected = 0;
  for (const flow::SettledEpisode& episode : followed.episodes) {
    EXPECT_EQ(episode.number, ++expected) << "episodes settle once each";
    EXPECT_EQ(episode.packets, sent_again[episode.number]) << "episode " << episode.number;
    EXPECT_NE(episode.cause, flow::Cause::none);
    EXPECT_NE(episode.place, flow::Place::none);
  }
}

Followed follow(std::vector<flow::Observation> packets, std::size_t batch) {
  Followed out;
  out.packets = std::move(packets);
  out.arrivals.resize(out.packets.size());
  out.tracker = std::make_unique<flow::Tracker>(true);
  flow::Settlements& settlements = out.tracker->settlements();
  const auto take = [&] {
    out.settled.insert(out.settled.end(), settlements.classes.begin(), settlements.classes.end());
    out.episodes.insert(out.episodes.end(), settlements.episodes.begin(),
                        settlements.episodes.end());
    settlements.classes.clear();
    settlements.episodes.clear();
  };
  for (std::size_t begin = 0; begin < out.packets.size(); begin += batch) {
    const std::size_t count = std::min(batch, out.packets.size() - begin);
    out.tracker->observe(std::span(out.packets).subspan(begin, count),
                         std::span(out.arrivals).subspan(begin, count));
    take();
  }
  out.tracker->finish();
  take();

  std::map<u64, std::size_t> by_frame;
  for (std::size_t i = 0; i < out.packets.size(); i++) by_frame[out.packets[i].frame] = i;
  for (const flow::SettledClass& settled : out.settled) {
    flow::Arrival& arrival = out.arrivals.at(by_frame.at(settled.frame));
    EXPECT_TRUE(arrival.provisional) << "frame " << settled.frame;
    arrival.packet_class = settled.packet_class;
    arrival.episode = settled.episode;
  }
  std::ranges::sort(out.episodes, {}, &flow::SettledEpisode::number);
  expect_consistent(out);
  return out;
}

std::vector<flow::Observation> observations(const PcapFile& file) {
  std::vector<flow::Observation> out;
  net::AddressTable addresses;
  u64 number = 0;
  for (const CapturedFrame& frame : file.frames()) {
    number++;
    flow::Observation packet;
    net::Located at;
    const Bytes bytes = file.bytes(frame);
    if (net::observe_frame(bytes, frame.wire_size, file.link_type(), addresses, packet, at) !=
        net::Sighting::roce)
      continue;
    packet.time = frame.time;
    packet.frame = number;
    switch (check_icrc(bytes, at)) {
      case IcrcCheck::good: packet.flags |= flow::kIcrcGood; break;
      case IcrcCheck::bad: packet.flags |= flow::kIcrcBad; break;
      case IcrcCheck::not_captured: break;
    }
    out.push_back(packet);
  }
  return out;
}

}  // namespace roce::test
