// SPDX-License-Identifier: BSD-3-Clause
// Findings of PFC and pause frames, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

constexpr u64 kPauser = 0x02'00'00'00'50'01;

// A MAC control frame that stops `priority` for `quanta` of 512 bit times; -1: all traffic.
Buffer pause(int priority, u16 quanta) {
  Buffer out;
  roce::test::put(out, 0x01'80'c2'00'00'01, 6);
  roce::test::put(out, kPauser, 6);
  roce::test::put(out, 0x8808, 2);
  if (priority < 0) {
    roce::test::put(out, 0x0001, 2);
    roce::test::put(out, quanta, 2);
  } else {
    roce::test::put(out, 0x0101, 2);
    roce::test::put(out, u64{1} << priority, 2);
    for (int i = 0; i < 8; i++) roce::test::put(out, i == priority ? quanta : 0, 2);
  }
  out.resize(60);
  return out;
}

// Some RoCE traffic, on for as long as the pauses.
Frames traffic(std::chrono::nanoseconds time) {
  Frames frames;
  for (u32 psn = 0; psn < 10; psn++)
    frames.add(Ends{}.send(psn), time / 10 * psn).add(Ends{}.ack(psn), time / 10 * psn + 2us);
  return frames;
}

// 65535 quanta at 100 Gbit/s are 335.5 us.
Report pauses(int priority, u32 count, std::chrono::nanoseconds every, u16 quanta = 65535) {
  Frames frames = traffic(count * every);
  for (u32 i = 0; i < count; i++) frames.add(pause(priority, quanta), 100us + i * every);
  return analyzed(frames);
}

// Data that goes to whoever pauses, `into` the pause, with that VLAN priority.
Report heeded(std::chrono::nanoseconds into, u16 pcp) {
  Frames frames;
  frames.add(pause(3, 10000), 1ms);  // 51.2 us
  for (u32 psn = 0; psn < 4; psn++) {
    Packet request = Ends{}.send(psn), answer = Ends{}.ack(psn);
    request.destination_mac = answer.source_mac = kPauser;
    request.vlans = answer.vlans = {static_cast<u16>(pcp << 13 | 5)};
    const auto time = psn < 2 ? 100us * psn : 1ms + into + psn * 1us;
    frames.add(request, time).add(answer, time + 200us);
  }
  return analyzed(frames);
}

}  // namespace

Pairs pause_pairs() {
  return {
      {.id = "pfc.storm",
       .has = [] { return pauses(3, 1500, 300us); },
       .has_not = [] { return pauses(3, 1000, 300us); },  // 0.3 s
       .severity = "error",
       .scope = "capture",
       .count = 1500,
       .first_frame = 3,
       .evidence = {{"source_mac", "02:00:00:00:50:01"},
                    {"frames", "1500"},
                    {"priority", "3"},
                    {"duty", "1"}},
       .says = {"02:00:00:00:50:01 paused priority 3 with 1,500 frames"},
       .others_without = {"pfc.heavy"}},
      {.id = "pfc.heavy",
       .has = [] { return pauses(3, 100, 1ms); },
       .has_not = [] { return pauses(3, 100, 5ms); },  // 7 %
       .severity = "warning",
       .scope = "capture",
       .count = 100,
       .first_frame = 3,
       .evidence = {{"priority", "3"}, {"longest_ns", "335539"}}},
      {.id = "pfc.not_honoured",
       .has = [] { return heeded(10us, 3); },
       .has_not = [] { return heeded(60us, 3); },  // it is over
       .severity = "warning",
       .scope = "capture",
       .count = 2,
       .first_frame = 6,
       .evidence = {{"pausing_mac", "02:00:00:00:50:01"}, {"packets", "2"}, {"priority", "3"}}},
      {.id = "pfc.not_honoured",
       .has = [] { return heeded(10us, 3); },
       .has_not = [] { return heeded(10us, 4); },  // another priority
       .severity = "warning",
       .scope = "capture",
       .count = 2,
       .first_frame = 6},
      {.id = "pause.global",
       .has = [] { return pauses(-1, 5, 50ms); },
       .has_not = [] { return pauses(3, 5, 50ms); },
       .severity = "warning",
       .scope = "capture",
       .count = 5,
       .first_frame = 3,
       .says = {"paused all traffic with 5 frames"}},
  };
}

}  // namespace rocetrace::test
