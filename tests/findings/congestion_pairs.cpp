// SPDX-License-Identifier: BSD-3-Clause
// Findings of ECN marks, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

// 40 SENDs, of which every `every`-th is marked; each is acknowledged.
Report marks(u32 every, bool marked_in_trace = true) {
  Frames frames;
  for (u32 psn = 0; psn < 40; psn++) {
    const Packet packet = Ends{}.send(psn);
    frames.add(marked_in_trace && psn % every == 0 ? marked(packet) : packet, psn * 50us);
    frames.add(Ends{}.ack(psn), psn * 50us + 10us);
  }
  return analyzed(frames);
}

// Two queue pairs with these ToS bytes.
Report codepoints(u8 one, u8 other) {
  Frames frames;
  for (u32 psn = 0; psn < 10; psn++) {
    const Ends a{.tos = one}, b{.qp_a = 0x33, .qp_b = 0x44, .tos = other, .port = 0xc002};
    frames.add(a.send(psn), psn * 50us).add(a.ack(psn), psn * 50us + 10us);
    frames.add(b.send(psn), psn * 50us + 1us).add(b.ack(psn), psn * 50us + 11us);
  }
  return analyzed(frames);
}

// A loss behind the tap, of traffic with this ToS byte; somewhere else there may be a mark.
Report loss(u8 tos, bool a_mark) {
  Frames frames;
  const Ends ends{.tos = tos}, other{.qp_a = 0x33, .qp_b = 0x44};
  for (u32 psn = 0; psn < 10; psn++) {
    frames.add(ends.send(psn), psn * 5us);
    if (psn < 4) frames.add(ends.ack(psn), psn * 5us + 2us);
  }
  frames.add(ends.nak(4), 60us);
  for (u32 psn = 4; psn < 10; psn++) frames.add(ends.send(psn), 70us + psn * 1us);
  frames.add(ends.ack(9), 90us);
  const Packet packet = other.send(0);
  frames.add(a_mark ? marked(packet) : packet, 530us).add(other.ack(0), 540us);
  return analyzed(frames);
}

}  // namespace

Pairs congestion_pairs() {
  return {
      {.id = "ecn.marked",
       .has = [] { return marks(10); },
       .has_not = [] { return marks(1, false); },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 4,
       .first_frame = 1,
       .evidence = {{"ce_marked", "4"}, {"ecn_capable", "40"}, {"share", "0.1"}},
       .says = {"4 of 40 ECN-capable packets were CE-marked (10 %)"}},
      {.id = "ecn.marked",  // little
       .has = [] { return marks(40); },
       .has_not = [] { return marks(1, false); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 1,
       .evidence = {{"share", "0.025"}},
       .others = {"cnp.missing"}},
      {.id = "ecn.not_capable",
       .has = [] { return codepoints(26 << 2 | 2, 26 << 2); },
       .has_not = [] { return codepoints(26 << 2, 26 << 2); },
       .severity = "warning",
       .scope = "half_flow 2",
       .count = 10,
       .first_frame = 2,
       .evidence = {{"not_ect", "10"}, {"packets", "10"}, {"dest_qp", "68"}}},
      {.id = "ecn.no_ce_under_load",
       .has = [] { return loss(26 << 2 | 2, false); },
       .has_not = [] { return loss(26 << 2 | 2, true); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 6,
       .first_frame = 16,
       .evidence = {{"retransmissions", "6"}},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission", "ecn.marked"}},
      {.id = "ecn.no_ce_under_load",
       .has = [] { return loss(26 << 2 | 2, false); },
       .has_not = [] { return loss(26 << 2, false); },  // what is not ECT cannot be marked
       .severity = "info",
       .scope = "half_flow 1",
       .count = 6,
       .first_frame = 16,
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission", "ecn.not_capable"}},
  };
}

}  // namespace rocetrace::test
