// SPDX-License-Identifier: BSD-3-Clause
// Findings of DSCPs and VLAN priorities, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

constexpr u8 tos_of(unsigned dscp) {
  return static_cast<u8>(dscp << 2 | 2);
}

// `count` exchanges, the requests changed by `change`, the answers by `answer`.
template <class Change, class Answer>
void exchange(Frames& frames, u32 count, const Ends& ends, Change change, Answer answer) {
  for (u32 psn = 0; psn < count; psn++) {
    Packet request = ends.send(psn), ack = ends.ack(psn);
    change(request, psn);
    answer(ack, psn);
    frames.add(request, psn * 50us).add(ack, psn * 50us + 10us);
  }
}
constexpr auto kAsIs = [](Packet&, u32) {};

Report classes(unsigned one, unsigned other) {
  Frames frames;
  exchange(frames, 10, {.tos = tos_of(one)}, kAsIs, kAsIs);
  exchange(frames, 10, {.qp_a = 0x33, .qp_b = 0x44, .tos = tos_of(other)}, kAsIs, kAsIs);
  return analyzed(frames);
}

// One queue pair of whose packets every `every`-th has another DSCP.
Report rewritten(u32 every) {
  Frames frames;
  exchange(
      frames, 400, {},
      [every](Packet& packet, u32 psn) {
        if (psn % every == 0) packet.tos = tos_of(0);
      },
      kAsIs);
  return analyzed(frames);
}

// Both ends send data, b with that DSCP; its CNPs have one of their own.
Report directions(unsigned dscp_of_b, bool data_back) {
  Frames frames;
  const Ends ends;
  exchange(frames, 10, ends, kAsIs, [&](Packet& ack, u32) { ack.tos = tos_of(dscp_of_b); });
  for (u32 psn = 0; psn < 10 && data_back; psn++) {
    Packet request = ends.from_b({.psn = 500 + psn, .payload_size = 64});
    request.tos = tos_of(dscp_of_b);
    frames.add(request, 1ms + psn * 50us);
    frames.add(ends.from_a({.opcode = 0x11, .psn = 500 + psn}), 1ms + psn * 50us + 10us);
  }
  frames.add(marked(ends.send(10)), 2ms).add(ends.cnp(), 2ms + 5us).add(ends.ack(10), 2ms + 10us);
  return analyzed(frames);
}

// DSCP 26 with these PCPs by turns; or each PCP with a DSCP of its own.
Report priorities(u16 one, u16 other, bool own_dscps) {
  Frames frames;
  exchange(
      frames, 20, {},
      [&](Packet& packet, u32 psn) {
        const bool odd = psn % 2 == 1;
        packet.vlans = {static_cast<u16>((odd ? other : one) << 13 | 100)};
        if (own_dscps && odd) packet.tos = tos_of(46);
      },
      [&](Packet& packet, u32) { packet.vlans = {static_cast<u16>(one << 13 | 100)}; });
  return analyzed(frames);
}

Report loss_in(u8 dscp) {
  Options options;
  options.lossless_dscps = {26};
  Frames frames;
  const Ends ends{.tos = tos_of(dscp)};
  frames.add(ends.send(0), 0us).add(ends.ack(0), 10us);
  frames.add(ends.send(1), 20us).add(ends.send(2), 21us).add(ends.nak(1), 40us);
  frames.add(ends.send(1), 50us).add(ends.send(2), 51us).add(ends.ack(2), 70us);
  return analyzed(frames, options);
}

// A responder without a buffer drops what follows itself.
Report not_ready_in_lossless_class() {
  Options options;
  options.lossless_dscps = {26};
  Frames frames;
  const Ends ends{.tos = tos_of(26)};
  frames.add(ends.send(0), 0us).add(ends.send(1), 1us);
  frames.add(ends.ack(0, 0x2c), 20us).add(ends.nak(0), 21us);  // RNR NAK, 0.64 ms
  frames.add(ends.send(0), 700us).add(ends.send(1), 701us).add(ends.ack(1), 720us);
  return analyzed(frames, options);
}

}  // namespace

Pairs class_pairs() {
  return {
      {.id = "dscp.unmarked",
       .has = [] { return classes(0, 0); },
       .has_not = [] { return classes(26, 26); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 10,
       .first_frame = 1,
       .evidence = {{"packets", "10"}, {"dscp", "0"}},
       .says = {"all 10 packets carry DSCP 0."}},
      {.id = "dscp.unmarked",  // others are marked: a setting was forgotten
       .has = [] { return classes(26, 0); },
       .has_not = [] { return classes(26, 8); },
       .severity = "warning",
       .scope = "half_flow 2",
       .count = 10,
       .first_frame = 2,
       .evidence = {{"dest_qp", "68"}},
       .says = {"while other data here is marked"}},
      {.id = "dscp.mixed",
       .has = [] { return rewritten(10); },
       .has_not = [] { return rewritten(200); },  // half a per cent
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 400,
       .first_frame = 1,
       .evidence = {{"dscps", "0 (40), 26 (360)"}}},
      {.id = "dscp.asymmetric",
       .has = [] { return directions(0, true); },
       .has_not = [] { return directions(26, true); },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 43,
       .first_frame = 1,
       .evidence = {{"dscp", "26"}, {"dscp_back", "0"}},
       .says = {"DSCP 26 this way and 0 back"},
       .others = {"dscp.unmarked"}},
      {.id = "dscp.asymmetric",
       .has = [] { return directions(0, false); },
       .has_not = [] { return directions(26, false); },
       .severity = "info",  // only one end sends data
       .scope = "half_flow 1",
       .count = 23,
       .first_frame = 1,
       .others = {"ecn.marked"},
       .others_without = {"ecn.marked"}},
      {.id = "dscp.pcp_disagree",
       .has = [] { return priorities(3, 0, false); },
       .has_not = [] { return priorities(3, 0, true); },
       .severity = "warning",
       .scope = "capture",
       .count = 40,
       .first_frame = 1,
       .evidence = {{"dscp", "26"}, {"pcps", "0 (10), 3 (30)"}},
       .others_without = {"dscp.mixed"}},
      {.id = "loss.in_lossless_class",
       .has = [] { return loss_in(26); },
       .has_not = [] { return loss_in(10); },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 2,
       .first_frame = 6,
       .evidence = {{"naks", "1"}, {"retransmissions", "2"}, {"dscp", "26"}},
       .says = {"1 sequence NAK and 2 packets sent again after a loss"},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "loss.in_lossless_class",
       .has = [] { return loss_in(26); },
       .has_not = not_ready_in_lossless_class,
       .severity = "error",
       .scope = "half_flow 1",
       .count = 2,
       .first_frame = 6,
       .others = {"loss.retransmission"},
       .others_without = {"rnr.storm"}},
  };
}

}  // namespace rocetrace::test
