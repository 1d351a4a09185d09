// SPDX-License-Identifier: BSD-3-Clause
// Findings of damaged and changed packets, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

// 20 SENDs, the frame of each changed after its ICRC was made.
template <class Change>
Report changed(Change change) {
  Frames frames;
  for (u32 psn = 0; psn < 20; psn++) {
    Packet packet = Ends{}.send(psn);
    packet.ip_id = static_cast<u16>(1000 + 7 * psn);
    Buffer frame = packet.frame();
    change(frame, psn);
    frames.add(std::move(frame), psn * 50us);
    frames.add(Ends{}.ack(psn), psn * 50us + 10us);
  }
  return analyzed(frames);
}
constexpr std::size_t kIpId = 14 + 4, kPayload = 14 + 20 + 8 + 12;

Report damaged(u32 from) {
  return changed([from](Buffer& frame, u32 psn) {
    if (psn >= from) frame[kPayload + psn] ^= 1;
  });
}
Report without_ip_ids() {
  return changed([](Buffer& frame, u32) { roce::test::put_at(frame, kIpId, 0, 2); });
}
// A router lowers the TTL and may set ECN and DSCP: none of it is covered.
Report routed() {
  return changed([](Buffer& frame, u32) {
    frame[14 + 8]--;
    frame[14 + 1] = 0x29;
  });
}

}  // namespace

Pairs icrc_pairs() {
  return {
      {.id = "icrc.bad",
       .has = [] { return lab("c_send_corrupt.b.pcap"); },
       .has_not = [] { return lab("c_send_corrupt.a.pcap"); },  // in front of the damage
       .severity = "warning",
       .scope = "host 10.0.0.1",
       .count = 30,
       .first_frame = 119,
       .evidence = {{"sender", "10.0.0.1"}, {"bad", "30"}, {"checked", "1389"}},
       .says = {"30 of 1,389 packets from 10.0.0.1 that could be checked had a wrong ICRC"},
       .others = {"loss.retransmission", "nak.slow_reaction"},
       .others_without = {"loss.retransmission", "nak.slow_generation", "nak.slow_reaction"}},
      {.id = "icrc.bad",
       .has = [] { return damaged(19); },
       .has_not = routed,
       .severity = "warning",
       .scope = "host 10.0.0.1",
       .count = 1,
       .first_frame = 39,
       .evidence = {{"bad", "1"}, {"checked", "20"}, {"share", "0.05"}}},
      {.id = "icrc.bad_sender",
       .has = [] { return damaged(0); },
       .has_not = [] { return damaged(10); },  // half of them are right
       .severity = "info",
       .scope = "host 10.0.0.1",
       .count = 20,
       .first_frame = 1,
       .evidence = {{"bad", "20"}, {"checked", "20"}},
       .others_without = {"icrc.bad"}},
      {.id = "icrc.rewritten",
       .has = without_ip_ids,
       .has_not = [] { return damaged(0); },
       .severity = "warning",
       .scope = "host 10.0.0.1",
       .count = 20,
       .first_frame = 1,
       .evidence = {{"field", "the IP identification"}, {"explained", "20"}, {"tried", "20"}},
       .says = {"from 0x0000 to 0x046d"}},
  };
}

}  // namespace rocetrace::test
