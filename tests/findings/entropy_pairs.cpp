// SPDX-License-Identifier: BSD-3-Clause
// Findings of UDP source ports, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

// `count` queue pairs between two hosts with these source ports; the first sends `first` packets,
// the others ten each.
Report ports(u32 count, u16 (*port)(u32), u32 first = 10) {
  Frames frames;
  for (u32 qp = 0; qp < count; qp++) {
    const Ends ends{.qp_a = 0x11 + qp, .qp_b = 0x222 + qp, .port = port(qp)};
    for (u32 psn = 0; psn < (qp == 0 ? first : 10); psn++) {
      frames.add(ends.send(psn), psn * 50us + qp * 1us);
      frames.add(ends.ack(psn), psn * 50us + qp * 1us + 20us);
    }
  }
  return analyzed(frames);
}
u16 all_different(u32 qp) {
  return static_cast<u16>(50000 + qp);
}
u16 all_the_same(u32) {
  return 49152;
}
u16 one_other(u32 qp) {
  return qp == 0 ? 50000 : 49152;
}
u16 by_halves(u32 qp) {
  return qp % 2 == 0 ? 50000 : 49152;
}

}  // namespace

Pairs entropy_pairs() {
  return {
      {.id = "entropy.low",
       .has = [] { return ports(8, one_other); },
       .has_not = [] { return ports(4, by_halves); },  // exactly 0.5
       .severity = "warning",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 8,
       .first_frame = 1,
       .evidence = {{"queue_pairs", "8"},
                    {"source_ports", "2"},
                    {"entropy", "0.181"},
                    {"busiest_port", "49152"},
                    {"busiest_port_share", "0.875"}}},
      {.id = "entropy.constant",
       .has = [] { return ports(8, all_the_same); },
       .has_not = [] { return ports(3, all_the_same); },  // too few to say
       .severity = "warning",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 8,
       .first_frame = 1,
       .evidence = {{"queue_pairs", "8"}, {"source_ports", "1"}, {"entropy", "0"}},
       .says = {"all 8 queue pairs use UDP source port 49152 (0xc000)"}},
      {.id = "entropy.hot_port",
       .has = [] { return ports(8, all_different, 100); },
       .has_not = [] { return ports(8, all_different); },
       .severity = "info",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 8,
       .first_frame = 1,
       .evidence = {{"busiest_port", "50000"}, {"busiest_port_share", "0.588"}}},
  };
}

}  // namespace rocetrace::test
