// SPDX-License-Identifier: BSD-3-Clause
// Findings of refusals: NAKs, RNR NAKs, and how soon both ends act; each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

// A gap, the NAK `noticed` after it, and the resend `reaction` after that.
Report recovery(std::chrono::nanoseconds noticed, std::chrono::nanoseconds reaction) {
  return analyzed(Script()
                      .send(0)
                      .ack(0)
                      .lose_before_tap(1)
                      .send(2)
                      .wait(noticed)
                      .nak(1)
                      .wait(reaction)
                      .resend(1, 2)
                      .ack(2));
}

// A WRITE of 9000 bytes, an atomic or a SEND, refused with `syndrome`.
Report refused(u8 syndrome, u8 opcode = 0x06) {
  Frames frames;
  const Ends ends;
  frames.add(ends.send(99), 0us).add(ends.ack(99), 10us);
  const bool atomic = opcode == 0x14;
  Packet first = ends.from_a({.opcode = opcode,
                              .psn = 100,
                              .payload_size = 1024,
                              .va = 0x7f00'0000'1000,
                              .rkey = 0xabcd,
                              .dma_length = 9000});
  Packet second =
      ends.from_a({.opcode = static_cast<u8>(opcode + 1), .psn = 101, .payload_size = 1024});
  if (atomic) {
    first.payload_size = 0;
    second = ends.send(101);
  }
  frames.add(first, 20us).add(second, 21us);
  frames.add(ends.ack(atomic ? 100 : 101, syndrome), 30us);
  return analyzed(frames);
}

// `count` RNR NAKs with a timer of 0.64 ms (code 12), `wait` from each to its retry, and half a
// second of other work.
Report not_ready(u32 count, std::chrono::nanoseconds wait) {
  Script script;
  for (u32 i = 0; i < 50; i++) script.send(i).ack(i).wait(10ms);
  script.send(50);
  for (u32 i = 0; i < count; i++) script.rnr(50, 12).wait(wait).resend(50);
  return analyzed(script.ack(50));
}

// Three SENDs of which the responder has no buffer for the first, and their next try.
Script refused_and_tried() {
  return Script().send(0).ack(0).send(1, 3).rnr(1, 12).nak(1).wait(700us).resend(1, 3);
}

}  // namespace

Pairs nak_pairs() {
  return {
      {.id = "nak.sequence",
       .has = [] { return recovery(10us, 10us); },
       .has_not = [] { return not_ready(1, 700us); },
       .severity = "info",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 4,
       .evidence =
           {{"naks", "1"}, {"request_packets", "4"}, {"dest_qp", "34"}, {"source_qp", "17"}},
       .says = {"10.0.0.2 sent 1 sequence NAK about 10.0.0.1 QP 0x11 -> 10.0.0.2 QP 0x22"},
       .others = {"loss.retransmission"}},
      {.id = "nak.sequence",  // the try was lost behind the tap, and sent again for that
       .has = [] { return analyzed(refused_and_tried().nak(1).resend(1, 3).ack(3)); },
       .has_not = [] { return lab("f_rnr_then_ok.a.pcap"); },
       .severity = "info",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 7,
       .evidence = {{"naks", "1"}, {"behind_rnr_naks", "1"}},
       .says = {"1 more came only behind RNR NAKs, with nothing lost"},
       .others = {"loss.retransmission", "rnr.storm"},
       .others_without = {"rnr.storm"}},
      {.id = "loss.retransmission",  // and one who was refused only
       .has = [] { return analyzed(refused_and_tried().nak(1).resend(1, 3).ack(3)); },
       .has_not = [] { return analyzed(refused_and_tried().ack(3)); },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 6,
       .first_frame = 8,
       .evidence = {{"place_downstream", "3"},
                    {"place_not_ready", "3"},
                    {"episodes", "2"},
                    {"amplification", "3"}},
       .says = {"3 came again only because the responder was not ready"},
       .others = {"rnr.storm"},
       .others_without = {"rnr.storm"}},
      {.id = "nak.sequence",  // both are about the run before: the try was refused in its turn
       .has = [] { return analyzed(refused_and_tried().nak(1).resend(1, 3).rnr(1, 12)); },
       .has_not =
           [] {
             return analyzed(
                 refused_and_tried().nak(1).rnr(1, 12).nak(1).wait(700us).resend(1, 3).ack(3));
           },
       .severity = "info",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 7,
       .others = {"loss.retransmission", "rnr.storm"},
       .others_without = {"rnr.storm"}},
      {.id = "nak.sequence",  // or taken
       .has = [] { return recovery(10us, 10us); },
       .has_not = [] { return analyzed(refused_and_tried().nak(1).ack(3)); },
       .severity = "info",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 4,
       .others = {"loss.retransmission"},
       .others_without = {"rnr.storm"}},
      {.id = "nak.invalid_request",
       .has = [] { return refused(0x61); },
       .has_not = [] { return refused(0x62); },
       .severity = "error",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 5,
       .evidence = {{"nak_psn", "101"},
                    {"nak_frame", "5"},
                    {"request_frame", "3"},
                    {"request_opcode", "RC RDMA WRITE First"},
                    {"length", "9000"}},
       .says = {"10.0.0.2 answered 10.0.0.1 QP 0x11", "for PSN 101 in frame 5"},
       .others_without = {"nak.remote_access"}},
      {.id = "nak.remote_access",
       .has = [] { return lab("f_bad_rkey_write.a.pcap"); },
       .has_not = [] { return lab("f_noaccess_qp_write.a.pcap"); },
       .severity = "error",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 79,
       .evidence = {{"nak_psn", "11321935"},
                    {"request_frame", "37"},
                    {"va", "93920830517248"},
                    {"rkey", "19160"},
                    {"length", "3000"}},
       .says = {"at address 0x556ba5bd7000 with R_Key 0x4ad8 (frame 37)", "of 3,000 bytes"},
       .others_without = {"nak.invalid_request"}},
      {.id = "nak.remote_access",  // an atomic, whose header has no length
       .has = [] { return refused(0x62, 0x14); },
       .has_not = [] { return refused(0x60); },
       .severity = "error",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 5,
       .evidence = {{"va", "139637976731648"}, {"rkey", "43981"}, {"length", "8"}}},
      {.id = "nak.remote_operational",
       .has = [] { return refused(0x63, 0x00); },
       .has_not = [] { return refused(0x61, 0x00); },
       .severity = "error",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 5,
       .evidence = {{"nak_psn", "101"}},
       .says = {"address and key were not captured, or it carries none"},
       .others_without = {"nak.invalid_request"}},
      {.id = "nak.slow_generation",
       .has = [] { return recovery(200us, 10us); },
       .has_not = [] { return recovery(80us, 10us); },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 4,
       .evidence = {{"median_ns", "210000"}},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "nak.slow_generation",  // an error over 10 ms
       .has = [] { return recovery(20ms, 10us); },
       .has_not = [] { return recovery(0us, 0us); },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 4,
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "nak.slow_reaction",
       .has = [] { return recovery(10us, 200us); },
       .has_not = [] { return recovery(10us, 80us); },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 4,
       .evidence = {{"median_ns", "210000"}},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "rnr.storm",
       .has = [] { return sample("rnr_exceeded.pcap"); },
       .has_not = [] { return not_ready(1, 700us); },
       .severity = "warning",
       .scope = "host 10.0.0.2",
       .count = 4,
       .first_frame = 13,
       .evidence = {{"responder", "10.0.0.2"},
                    {"rnr_naks", "4"},
                    {"queue_pairs", "1"},
                    {"timer_ns", "2560000"}},
       .says = {"10.0.0.2 sent 4 RNR NAKs to 1 queue pair", "asking for 2.56 ms"},
       .others = {"retry.exhausted"}},
      {.id = "rnr.timer_ignored",
       .has = [] { return not_ready(1, 300us); },
       .has_not = [] { return not_ready(1, 700us); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 103,
       .evidence = {{"early_retries", "1"}, {"timer_ns", "640000"}}},
  };
}

}  // namespace rocetrace::test
