// SPDX-License-Identifier: BSD-3-Clause
// Findings of congestion notification packets, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

struct Plan {
  u32 rounds = 10;
  bool marks = true;
  std::chrono::nanoseconds delay = 10us;  // from the mark to the CNP
  bool cnps = true;
  bool cnp_marked = false;
  u8 cnp_dscp = 48;
  bool nak_before = false;
};

// Rounds of 100 us: four SENDs, the last of them marked, the answer, a CNP.
Report rounds(const Plan& plan) {
  Frames frames;
  const Ends ends;
  for (u32 i = 0; i < plan.rounds; i++) {
    const auto start = i * 500us;
    for (u32 k = 0; k < 4; k++) {
      const Packet packet = ends.send(4 * i + k);
      frames.add(plan.marks && k == 3 ? marked(packet) : packet, start + k * 1us);
    }
    frames.add(ends.ack(4 * i + 3), start + 8us);
    if (plan.nak_before) frames.add(ends.nak(4 * i + 4), start + 3us + plan.delay - 2us);
    if (!plan.cnps) continue;
    Packet cnp = ends.cnp();
    cnp.tos = static_cast<u8>(plan.cnp_dscp << 2 | (plan.cnp_marked ? 3 : 0));
    frames.add(cnp, start + 3us + plan.delay);
  }
  // Some more traffic, so that a CNP could still have come.
  frames.add(ends.send(4 * plan.rounds), plan.rounds * 500us + 5ms);
  frames.add(ends.ack(4 * plan.rounds), plan.rounds * 500us + 5ms + 10us);
  return analyzed(frames);
}

// 30 CNPs; after each the sender sends `cut` per cent fewer packets than before, or as many.
Report reaction(bool slows_down) {
  Frames frames;
  const Ends ends;
  u32 psn = 0;
  for (u32 i = 0; i < 30; i++) {
    const auto start = i * 100us;
    const u32 packets = slows_down ? 60 - 2 * i : 30;
    for (u32 k = 0; k < packets; k++) {
      const Packet packet = ends.send(psn++);
      frames.add(k == 0 ? marked(packet) : packet, start + k * 1us);
    }
    frames.add(ends.ack(psn - 1), start + 70us).add(ends.cnp(), start + 80us);
  }
  return analyzed(frames);
}

// Two hosts whose queue pairs are answered by CNPs of one NIC, 10 us apart in all; for one queue
// pair they are 20 us apart.
Report paced_by_port() {
  Frames frames;
  const Ends one, other{.a = "10.0.0.3", .qp_a = 0x31};
  for (u32 i = 0; i < 10; i++) {
    frames.add(marked(one.send(i)), i * 20us).add(one.cnp(), i * 20us + 5us);
    frames.add(marked(other.send(i)), i * 20us + 8us).add(other.cnp(), i * 20us + 15us);
    frames.add(one.ack(i), i * 20us + 16us).add(other.ack(i), i * 20us + 17us);
  }
  return analyzed(frames);
}

}  // namespace

Pairs cnp_pairs() {
  return {
      {.id = "cnp.delay",
       .has = [] { return rounds({.delay = 200us}); },
       .has_not = [] { return rounds({.delay = 50us}); },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 10,
       .first_frame = 6,
       .evidence = {{"median_ns", "200000"}},
       .others = {"ecn.marked"},
       .others_without = {"ecn.marked"}},
      {.id = "cnp.interval",
       .has = [] { return sample("cnp.pcap"); },
       .has_not = [] { return rounds({.rounds = 1}); },  // one CNP has no interval
       .severity = "info",
       .scope = "host 10.0.0.2",
       .count = 12,
       .first_frame = 925,
       .evidence = {{"cnps", "12"}, {"shortest_ns", "1980988"}, {"scope", "queue pair"}},
       .others = {"ecn.marked", "cnp.delay"},
       .others_without = {"ecn.marked"}},
      {.id = "cnp.interval",
       .has = paced_by_port,
       .has_not = [] { return rounds({.cnps = false}); },
       .severity = "info",
       .scope = "host 10.0.0.2",
       .count = 20,
       .first_frame = 2,
       .evidence = {{"shortest_ns", "20000"},
                    {"shortest_of_destination_ns", "20000"},
                    {"shortest_of_port_ns", "10000"},
                    {"scope", "queue pair"}},
       .others = {"ecn.marked"},
       .others_without = {"ecn.marked", "cnp.missing"}},
      {.id = "cnp.per_ce",
       .has = [] { return rounds({}); },
       .has_not = [] { return rounds({.marks = false}); },
       .severity = "info",
       .scope = "host 10.0.0.2",
       .count = 10,
       .first_frame = 6,
       .evidence = {{"ce_marks", "10"}, {"cnps", "10"}, {"ce_per_cnp", "1"}},
       .others = {"ecn.marked"}},
      {.id = "cnp.missing",
       .has = [] { return rounds({.cnps = false}); },
       .has_not = [] { return rounds({}); },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 10,
       .first_frame = 4,
       .evidence = {{"ce_marked", "10"}, {"cnps", "0"}},
       .says = {"10 of 41 packets were CE-marked, and no CNP came back"},
       .others = {"ecn.marked"},
       .others_without = {"ecn.marked"}},
      {.id = "cnp.missing",
       .has = [] { return lab("h_red_ecn_4qp.b.pcap"); },
       .has_not = [] { return lab("h_cnp_4qp_iv5ms.b.pcap"); },
       .severity = "warning",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 613,
       .first_frame = 113,
       .evidence = {{"half_flows", "4"}, {"ce_marked", "196"}, {"cnps", "0"}},
       .others = {"ecn.marked"},
       .others_without = {"ecn.marked", "cnp.delay"}},
      {.id = "cnp.without_ce",
       .has = [] { return rounds({.marks = false}); },
       .has_not = [] { return rounds({}); },
       .severity = "info",  // the tap may lie in front of the switch
       .scope = "half_flow 2",
       .count = 10,
       .first_frame = 6,
       .evidence = {{"cnps", "10"}, {"without_ce", "10"}, {"on_nak", "0"}},
       .says = {"No mark was seen in the whole trace"},
       .others_without = {"ecn.marked"}},
      {.id = "cnp.without_ce",  // on a NAK: slow restart
       .has = [] { return rounds({.marks = false, .nak_before = true}); },
       .has_not = [] { return rounds({.nak_before = true}); },
       .severity = "warning",
       .scope = "half_flow 2",
       .count = 10,
       .first_frame = 7,
       .evidence = {{"on_nak", "10"}},
       .says = {"10 within 10 us of a NAK"},
       .others_without = {"ecn.marked"}},
      {.id = "cnp.ignored",
       .has = [] { return reaction(false); },
       .has_not = [] { return reaction(true); },
       .severity = "warning",
       .scope = "half_flow 2",
       .count = 30,
       .first_frame = 32,
       .evidence = {{"rate_cut", "0"}, {"rate_kept", "28"}},
       .says = {"after 28 of 28 CNPs"}},
      {.id = "cnp.marked_ce",
       .has = [] { return rounds({.cnp_marked = true}); },
       .has_not = [] { return rounds({}); },
       .severity = "info",
       .scope = "half_flow 2",
       .count = 10,
       .first_frame = 6,
       .evidence = {{"marked", "10"}, {"cnps", "10"}},
       .others = {"ecn.marked"},
       .others_without = {"ecn.marked"}},
      {.id = "cnp.class",
       .has = [] { return rounds({.cnp_dscp = 26}); },
       .has_not = [] { return rounds({}); },
       .severity = "info",
       .scope = "half_flow 2",
       .count = 10,
       .first_frame = 6,
       .evidence = {{"cnp_dscp", "26"}},
       .others = {"ecn.marked"},
       .others_without = {"ecn.marked"}},
  };
}

}  // namespace rocetrace::test
