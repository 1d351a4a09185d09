// SPDX-License-Identifier: BSD-3-Clause
// Follows packets to their end through a Tracker, and says what became of each: settled classes and
// episodes, as lines that read well in a failed test.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "roce/flow/tracker.hpp"

namespace roce::test {

/// Packets, and what the tracker made of them.
struct Followed {
  std::vector<flow::Observation> packets;
  std::vector<flow::Arrival> arrivals;  // with the settled class and episode
  std::vector<flow::SettledClass> settled;
  std::vector<flow::SettledEpisode> episodes;  // by number
  std::unique_ptr<flow::Tracker> tracker;

  const flow::HalfFlow& flow(u32 id = 1) const { return tracker->flows().at(id); }
  flow::TroubleCounts counts(u32 id = 1) const { return flow(id).requests.trouble_counts(); }
  const flow::Connection& connection(u32 id = 1) const { return tracker->connections().at(id - 1); }

  /// "first in_order gap": the classes of the half-flow's request packets, in order.
  std::string classes(u32 id = 1) const {
    std::string out;
    for (const flow::Arrival& arrival : arrivals) {
      if (arrival.flow != id || arrival.stream != flow::StreamKind::request) continue;
      if (!out.empty()) out += ' ';
      out += name(arrival.packet_class);
    }
    return out;
  }

  /// "6 nak_sequence upstream 3": of each recovery episode of the half-flow the PSN that it
  /// restarts at, cause, place and packets sent again; episodes are parted by "; ".
  std::string recoveries(u32 id = 1) const {
    std::string out;
    for (const flow::SettledEpisode& episode : episodes) {
      if (episode.flow != id) continue;
      if (!out.empty()) out += "; ";
      out += std::to_string(episode.restart_psn) + ' ' + std::string(name(episode.cause)) + ' ' +
             std::string(name(episode.place)) + ' ' + std::to_string(episode.packets);
    }
    return out;
  }
};

/// What must hold of any trace: counts agree with classes, and causes and places add up.
inline void expect_consistent(const Followed& followed) {
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

/// Follows `packets` in batches of `batch`, and checks that the result is consistent.
inline Followed follow(std::vector<flow::Observation> packets, std::size_t batch = 32) {
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

}  // namespace roce::test
