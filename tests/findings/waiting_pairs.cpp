// SPDX-License-Identifier: BSD-3-Clause
// Findings of time in which work waited, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

Report late_answer(std::chrono::nanoseconds wait) {
  return analyzed(Script().send(0).ack(0).send(1).wait(wait).ack(1).send(2).ack(2));
}

// `count` SENDs, each acknowledged before the next, or two by two.
Report pipeline(u32 count, u32 at_once) {
  Script script;
  for (u32 psn = 0; psn < count; psn += at_once)
    script.send(psn, psn + at_once - 1).ack(psn + at_once - 1);
  return analyzed(script);
}

}  // namespace

Pairs waiting_pairs() {
  return {
      {.id = "stall",
       .has = [] { return analyzed(Script().send(0).ack(0).send(1).wait(20ms).send(2).ack(2)); },
       .has_not =
           [] {  // nothing was left to do
             return analyzed(Script().send(0).ack(0).send(1).ack(1).wait(20ms).send(2).ack(2));
           },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 1,
       .evidence = {{"ended_by_request", "1"},
                    {"ended_by_resend", "0"},
                    {"ended_by_response", "0"},
                    {"longest_ns", "20001000"}},
       .says = {"1 silence ended by a new request", "the longest 20 ms from 0.000020 s"}},
      {.id = "stall",  // by a timer, for more than a second
       .has =
           [] { return analyzed(Script().send(0).ack(0).send(1).wait(1200ms).resend(1).ack(1)); },
       .has_not = [] { return late_answer(1200ms); },
       .severity = "warning",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 1,
       .evidence = {{"ended_by_resend", "1"}},
       .says = {"1 silence ended by a resend, after a timer"},
       .others = {"loss.retransmission"},
       .others_without = {"ack.stall"}},
      {.id = "ack.stall",
       .has = [] { return late_answer(20ms); },
       .has_not = [] { return late_answer(9ms); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 1,
       .evidence = {{"ended_by_response", "1"}, {"longest_ns", "20010000"}},
       .says = {"1 silence ended by the answer"}},
      {.id = "stop_and_wait",
       .has = [] { return pipeline(80, 1); },
       .has_not = [] { return pipeline(80, 4); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 80,
       .first_frame = 1,
       .evidence = {{"messages", "80"}, {"most_outstanding_psns", "1"}}},
  };
}

}  // namespace rocetrace::test
