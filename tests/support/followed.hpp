// SPDX-License-Identifier: BSD-3-Clause
// Follows packets to their end through a Tracker, and says what became of each: settled classes and
// episodes, as lines that read well in a failed test.

#pragma once

#include <memory>
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
void expect_consistent(const Followed& followed);

/// Follows `packets` in batches of `batch`, and checks that the result is consistent.
Followed follow(std::vector<flow::Observation> packets, std::size_t batch = 32);

}  // namespace roce::test
