// SPDX-License-Identifier: BSD-3-Clause
// Findings of who suffers from whom, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

// `senders` hosts send ten packets each to 10.0.0.100, `apart` from each other's beginning; of all
// but the first the last is marked.
Report to_one_host(u32 senders, std::chrono::nanoseconds apart, u32 packets_of_first = 10,
                   bool marks = true) {
  Frames frames;
  for (u32 i = 0; i < senders; i++) {
    const Ends ends{.a = fmt::format("10.0.0.{}", i + 1), .b = "10.0.0.100", .qp_b = 0x22 + i};
    const u32 packets = i == 0 ? packets_of_first : 10;
    for (u32 psn = 0; psn < packets; psn++) {
      const Packet packet = ends.send(psn);
      const auto time = i * apart + psn * 20us + i * 1us;
      frames.add(marks && i > 0 && psn == 9 ? marked(packet) : packet, time);
      frames.add(ends.ack(psn), time + 10us);
    }
  }
  return analyzed(frames);
}

// `count` queue pairs between two hosts, the last of which is answered after `slow`.
Report latencies(u32 count, std::chrono::nanoseconds slow) {
  Frames frames;
  for (u32 qp = 0; qp < count; qp++) {
    const Ends ends{.qp_a = 0x11 + qp, .qp_b = 0x222 + qp, .port = static_cast<u16>(50000 + qp)};
    for (u32 psn = 0; psn < 20; psn++) {
      const auto time = psn * 200us + qp * 1us;
      frames.add(ends.send(psn), time).add(ends.ack(psn), time + (qp + 1 == count ? slow : 10us));
    }
  }
  return analyzed(frames);
}

}  // namespace

Pairs fairness_pairs() {
  return {
      {.id = "incast",
       .has = [] { return to_one_host(5, 0us); },
       .has_not = [] { return to_one_host(5, 20ms); },  // one after the other
       .severity = "warning",
       .scope = "host 10.0.0.100",
       .count = 1,
       .first_frame = 0,
       .evidence = {{"receiver", "10.0.0.100"}, {"most_senders", "5"}, {"marked_or_resent", "4"}},
       .says = {"10.0.0.100: up to 5 hosts sent to it within 1.05 ms"},
       .others = {"ecn.marked"},
       .others_without = {"ecn.marked", "cnp.missing"}},
      {.id = "incast",
       .has = [] { return to_one_host(5, 0us); },
       .has_not = [] { return to_one_host(5, 0us, 10, false); },  // nobody suffers
       .severity = "warning",
       .scope = "host 10.0.0.100",
       .count = 1,
       .first_frame = 0,
       .others = {"ecn.marked"}},
      {.id = "noisy_neighbour",
       .has = [] { return to_one_host(3, 0us, 100); },
       .has_not = [] { return to_one_host(3, 0us); },
       .severity = "info",
       .scope = "hosts 10.0.0.1 10.0.0.100",
       .count = 2,
       .first_frame = 0,
       .evidence = {{"sender", "10.0.0.1"}, {"receiver", "10.0.0.100"}, {"share", "0.8333"}},
       .says = {"10.0.0.1 sent 83 % of the"},
       .others = {"ecn.marked", "cnp.missing"},
       .others_without = {"ecn.marked"}},
      {.id = "slowest_qp",
       .has = [] { return latencies(5, 60us); },
       .has_not = [] { return latencies(5, 25us); },
       .severity = "info",
       .scope = "connection 5",
       .count = 20,
       .first_frame = 5,
       .evidence = {{"latency", "ack"},
                    {"connections", "5"},
                    {"dest_qp", "550"},
                    {"source_port", "50004"}}},
  };
}

}  // namespace rocetrace::test
