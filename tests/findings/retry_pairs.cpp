// SPDX-License-Identifier: BSD-3-Clause
// Findings of timers and retries, and of what the specification does not allow; each with its
// relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

// Something else that goes on for `time`, so that silence is seen as such.
void go_on(Script& script, std::chrono::nanoseconds time) {
  script.wait(time).between(0x900, 0x901).send(1).ack(1);
}

// A request that waits in vain, sent again after each of `waits`.
Report in_vain(std::initializer_list<std::chrono::nanoseconds> waits, bool answered_at_last,
               std::chrono::nanoseconds then) {
  Script script;
  script.send(0).ack(0).send(1);
  for (const auto wait : waits) script.wait(wait).resend(1);
  if (answered_at_last) script.ack(1);
  go_on(script, then);
  return analyzed(script);
}

// A SEND that the responder has no buffer for, and no retry.
Report refused_once(bool retried) {
  Script script;
  script.send(0).ack(0).send(1).rnr(1, 12);
  if (retried) script.wait(1ms).resend(1).ack(1);
  go_on(script, 100ms);
  return analyzed(script);
}

// Sent again `tries` times: after an RNR NAK, and from then on in vain.
Report refused_then_silent(int tries) {
  Script script;
  script.send(0).ack(0).send(1).rnr(1, 12);
  for (int i = 0; i < tries; i++) script.wait(i == 0 ? 1ms : 67ms).resend(1);
  go_on(script, 400ms);
  return analyzed(script);
}

}  // namespace

// What the application was told may hang on a packet that nobody captured.
TEST(Completion, IsNotGuessed) {
  Options options;
  options.settings = {"retry.exhausted.resends=1"};
  Script one_try;  // refused, and the next try not answered
  one_try.send(0).ack(0).send(1).rnr(1, 12).wait(1ms).resend(1);
  go_on(one_try, 400ms);
  const Report in_doubt = analyzed(one_try, options);
  EXPECT_THAT(text(in_doubt, "retry.exhausted"),
              testing::HasSubstr("cannot be told: the last try had no answer"));
  EXPECT_EQ(evidence(in_doubt, "retry.exhausted", "completion"), "");

  Script unheard;  // RNR NAKs would not have been captured
  unheard.send(0).send(1);
  for (int i = 0; i < 4; i++) unheard.wait(67ms).resend(1);
  unheard.wait(400ms).between(0x900, 0x901).send(1);
  const Report one_way = analyzed(unheard);
  EXPECT_THAT(text(one_way, "retry.exhausted"),
              testing::HasSubstr("cannot be told: answers were not captured"));
  EXPECT_EQ(evidence(one_way, "retry.exhausted", "completion"), "");
}

Pairs retry_pairs() {
  return {
      {.id = "timeout.series",
       .has =
           [] {
             return in_vain({67ms, 67ms, 67ms}, true, 10ms);
           },
       .has_not = [] { return in_vain({67ms}, true, 10ms); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 3,
       .first_frame = 4,
       .evidence = {{"psn", "1"},
                    {"resends", "3"},
                    {"class", "ib_spec"},
                    {"exponent", "13"},
                    {"shortest_wait_ns", "67001000"}},
       .says = {"PSN 1 was sent again 3 times", "exponent 13 (4.096 us * 2^13 = 33.6 ms)"},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "timeout.series",
       .has =
           [] {
             return in_vain({4ms, 8ms, 16ms, 32ms}, true, 10ms);
           },
       .has_not =
           [] {  // every wait is ended by a NAK
             Script script;
             script.send(0).ack(0).lose_before_tap(1).send(2);
             for (int i = 0; i < 3; i++) script.nak(1).wait(5ms).lose_again_before_tap(1).resend(2);
             return analyzed(script.nak(1).resend(1, 2).ack(2));
           },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 4,
       .first_frame = 4,
       .evidence = {{"class", "adaptive"}, {"resends", "4"}},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission", "nak.slow_generation", "nak.slow_reaction"}},
      {.id = "retry.exhausted",
       .has = [] { return sample("blackhole.pcap"); },
       .has_not =
           [] {  // the last try is answered
             return in_vain({67ms, 67ms, 67ms, 67ms}, true, 400ms);
           },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 4,
       .first_frame = 25,
       .evidence = {{"source", "10.0.0.1"},
                    {"destination", "10.0.0.2"},
                    {"dest_qp", "54"},
                    {"psn", "12363693"},
                    {"resends", "4"},
                    {"rnr", "false"},
                    {"last_gap_ns", "67849508"},
                    {"completion", "IBV_WC_RETRY_EXC_ERR"},
                    {"completion_status", "12"}},
       .says = {"gave up: PSN 12363693 was sent again 4 times without progress (waits: ",
                "no answer was ever seen"},
       .others = {"path.one_way", "loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "retry.exhausted",  // by RNR NAKs
       .has = [] { return sample("rnr_exceeded.pcap"); },
       .has_not = [] { return sample("rnr_recovered.pcap"); },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 3,
       .first_frame = 15,
       .evidence = {{"rnr", "true"},
                    {"resends", "3"},
                    {"last_acknowledged_psn", "15951221"},
                    {"completion", "IBV_WC_RNR_RETRY_EXC_ERR"},
                    {"completion_status", "13"}},
       .says = {"the responder not being ready (RNR timer 2.56 ms)",
                "error is 13, IBV_WC_RNR_RETRY_EXC_ERR"},
       .others = {"rnr.storm"},
       .others_without = {"rnr.storm"}},
      {.id = "retry.exhausted",  // with an RNR retry count of 0
       .has = [] { return refused_once(false); },
       .has_not = [] { return refused_once(true); },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 3,
       .evidence = {{"rnr", "true"},
                    {"resends", "0"},
                    {"psn", "1"},
                    {"completion", "IBV_WC_RNR_RETRY_EXC_ERR"}},
       .says = {"after an RNR NAK for PSN 1 no retry came"},
       .others_without = {"rnr.storm"}},
      {.id = "retry.exhausted",  // refused, and then nothing came back at all
       .has = [] { return refused_then_silent(3); },
       .has_not = [] { return refused_once(true); },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 3,
       .first_frame = 5,
       .evidence = {{"resends", "3"}, {"completion", "IBV_WC_RETRY_EXC_ERR"}},
       .says = {"error is 12, IBV_WC_RETRY_EXC_ERR"},
       .others = {"loss.retransmission"},
       .others_without = {"rnr.storm"}},
      {.id = "retransmission.spurious",
       .has =
           [] {  // two answers had passed: one should have come through
             return analyzed(
                 Script().send(0, 2).ack(0).ack(1).ack(2).wait(5ms).resend(1, 2).ack(2));
           },
       .has_not =
           [] {  // the answer may have been lost behind the tap
             return analyzed(Script().send(0, 2).ack(0).ack(2).wait(5ms).resend(1, 2).ack(2));
           },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 2,
       .first_frame = 7,
       .evidence = {{"spurious", "2"}, {"retransmissions", "2"}},
       .says = {"2 of 2 retransmitted packets came after their ACK had passed"},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "conformance",
       .has =
           [] {  // a NAK for the same PSN though nothing came again
             return analyzed(Script()
                                 .send(0)
                                 .ack(0)
                                 .lose_before_tap(1)
                                 .send(2)
                                 .nak(1)
                                 .send(3)
                                 .nak(1)
                                 .resend(1, 3)
                                 .ack(3));
           },
       .has_not =
           [] {  // it was sent again, and lost once more
             return analyzed(Script()
                                 .send(0)
                                 .ack(0)
                                 .lose_before_tap(1)
                                 .send(2)
                                 .nak(1)
                                 .lose_again_before_tap(1)
                                 .resend(2)
                                 .nak(1)
                                 .resend(1, 2)
                                 .ack(2));
           },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 6,
       .evidence = {{"repeated_naks", "1"}},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "conformance",
       .has =
           [] {  // the resend starts in front of the NAK's PSN
             return analyzed(
                 Script().send(0, 1).lose_before_tap(2).send(3).nak(2).resend(1, 3).ack(3));
           },
       .has_not =
           [] {
             return analyzed(
                 Script().send(0, 1).lose_before_tap(2).send(3).nak(2).resend(2, 3).ack(3));
           },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 5,
       .evidence = {{"early_resends", "1"}},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "conformance",
       .has =
           [] {  // a NAK for what was acknowledged
             return analyzed(Script().send(0, 3).ack(2).nak(1).resend(1, 3).ack(3));
           },
       .has_not = [] { return analyzed(Script().send(0, 3).ack(0).nak(1).resend(1, 3).ack(3)); },
       .severity = "info",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 6,
       .evidence = {{"naks_back", "1"}},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "conformance",
       .has = [] { return analyzed(Script().send(0, 2).ack(2).ack(1).send(3).ack(3)); },
       .has_not = [] { return analyzed(Script().send(0, 2).ack(1).ack(2).send(3).ack(3)); },
       .severity = "info",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 5,
       .evidence = {{"acks_back", "1"}}},
      {.id = "conformance",
       .has =
           [] {  // a Middle behind an Only
             Frames frames;
             frames.add(Ends{}.send(0), 0us).add(Ends{}.ack(0), 10us);
             frames.add(Ends{}.from_a({.opcode = 0x01, .psn = 1, .payload_size = 1024}), 20us);
             frames.add(Ends{}.from_a({.opcode = 0x02, .psn = 2, .payload_size = 10}), 21us);
             return analyzed(frames.add(Ends{}.ack(2), 30us));
           },
       .has_not =
           [] {  // the capture begins within a message
             Frames frames;
             frames.add(Ends{}.from_a({.opcode = 0x01, .psn = 1, .payload_size = 1024}), 20us);
             frames.add(Ends{}.from_a({.opcode = 0x02, .psn = 2, .payload_size = 10}), 21us);
             return analyzed(frames.add(Ends{}.ack(2), 30us));
           },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 3,
       .evidence = {{"headless_messages", "1"}}},
      {.id = "conformance",
       .has = [] { return analyzed(Script().message(0, 3, 1000).ack(2)); },
       .has_not = [] { return analyzed(Script().message(0, 3, 1024).ack(2)); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 2,
       .first_frame = 1,
       .evidence = {{"odd_sizes", "2"}}},
      {.id = "conformance",
       .has =
           [] {
             Frames frames;
             frames.add(Ends{}.send(0), 0us).add(Ends{}.ack(0), 10us);
             frames.add(Ends{}.from_a({.opcode = 0x0c, .psn = 1, .dma_length = 200}), 20us);
             return analyzed(
                 frames.add(Ends{}.from_b({.opcode = 0x10, .psn = 1, .payload_size = 100}), 30us));
           },
       .has_not = [] { return analyzed(Script().send(0).ack(0).read(1, 200).read_response(1)); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 4,
       .evidence = {{"read_lengths", "1"}}},
  };
}

}  // namespace rocetrace::test
