// SPDX-License-Identifier: BSD-3-Clause
// Findings of lost and overtaken packets, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

// A message of several packets over an unreliable connection, with one lost within it, or none.
Report unreliable(bool lost) {
  Script script(roce::test::Ids::counted, roce::Service::uc);
  script.message(0, 4).message(4, 4);
  if (lost) {
    script.send(8).lose_before_tap(9).send(10);
  } else {
    script.send(8, 10);
  }
  return analyzed(script.message(11, 3));
}

}  // namespace

Pairs loss_pairs() {
  return {
      {.id = "loss.retransmission",
       .has = [] { return sample("loss_write_vlan.pcap"); },
       .has_not =
           [] {  // late, but not sent again
             return analyzed(Script().send(0, 1).overtaken(2).send(3).late(2).send(4).ack(4));
           },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 153,
       .first_frame = 110,
       .evidence = {{"source", "10.1.0.1"},
                    {"destination", "10.1.0.2"},
                    {"source_qp", "59"},
                    {"dest_qp", "81"},
                    {"source_port", "53931"},
                    {"dscp", "0"},
                    {"retransmissions", "153"},
                    {"episodes", "7"},
                    {"cause_nak_sequence", "153"},
                    {"place_downstream", "153"},
                    {"longest_burst_packets", "47"},
                    {"longest_burst_frame", "110"}},
       .says = {"153 of 453 packets (34 %)", "in 7 recoveries"},
       .others = {"nak.slow_generation", "nak.slow_reaction"},
       .others_without = {"loss.reordering"}},
      {.id = "loss.reordering",
       .has =
           [] { return analyzed(Script().send(0, 1).overtaken(2).send(3).late(2).send(4).ack(4)); },
       .has_not =
           [] {  // asked for, and sent again
             return analyzed(
                 Script().send(0, 1).lose_before_tap(2).send(3).nak(2).resend(2, 3).send(4).ack(4));
           },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 4,
       .evidence = {{"reordered", "1"},
                    {"largest_distance_psns", "1"},
                    {"largest_distance_ns", "1000"}},
       .says = {"1 of 5 packets came late"},
       .others_without = {"loss.retransmission"}},
      {.id = "loss.unrecovered",
       .has =
           [] {
             return analyzed(Script()
                                 .send(0)
                                 .ack(0)
                                 .lose_before_tap(1)
                                 .send(2)
                                 .wait(300ms)
                                 .between(0x50, 0x60)
                                 .send(7)
                                 .ack(7));
           },
       .has_not =
           [] {  // the responder had it: the capture missed it
             return analyzed(Script()
                                 .send(0)
                                 .ack(0)
                                 .lose_before_tap(1)
                                 .send(2)
                                 .ack(2)
                                 .wait(300ms)
                                 .between(0x50, 0x60)
                                 .send(7)
                                 .ack(7));
           },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 3,
       .evidence = {{"missing_psns", "1"}, {"dest_qp", "34"}},
       .says = {"neither sent again nor acknowledged"},
       .others_without = {"capture.loss"}},
      {.id = "uc.message_lost",
       .has = [] { return lab("e_uc_send_loss3.b.pcap"); },
       .has_not = [] { return lab("e_uc_write.b.pcap"); },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 14,
       .first_frame = 20,
       .evidence = {{"missing_psns", "14"}}},
      {.id = "uc.message_lost",
       .has = [] { return unreliable(true); },
       .has_not = [] { return unreliable(false); },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 10,
       .evidence = {{"messages_lost", "1"}, {"missing_psns", "1"}}},
  };
}

}  // namespace rocetrace::test
