// SPDX-License-Identifier: BSD-3-Clause
// Findings of the capture itself, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

// `count` SENDs, acknowledged one by one, with each of `lost` among them missing for good.
Frames exchange(u32 count, const std::vector<u32>& lost = {}, std::size_t snap = 65535) {
  Frames frames;
  for (u32 psn = 0; psn < count; psn++) {
    if (std::ranges::count(lost, psn) == 0) frames.add(Ends{}.send(psn), psn * 100us, snap);
    frames.add(Ends{}.ack(psn), psn * 100us + 20us, snap);
  }
  return frames;
}

// What two taps saw of the same packets, the second so much later.
Frames twice(std::chrono::nanoseconds later) {
  Frames frames;
  u16 id = 0;
  for (u32 psn = 0; psn < 40; psn++)
    for (Packet packet : {Ends{}.send(psn), Ends{}.ack(psn)}) {
      packet.ip_id = ++id;
      frames.add(packet, id * 2ms).add(packet, id * 2ms + later);
    }
  return frames;
}

// An exchange behind an ERSPAN mirror that numbers its packets, of which these were lost.
Report mirrored(const std::vector<u32>& lost) {
  Frames frames;
  for (u32 number = 0; number < 40; number++) {
    if (std::ranges::count(lost, number) > 0) continue;
    const u32 psn = number / 2;
    Packet packet = number % 2 == 0 ? Ends{}.send(psn) : Ends{}.ack(psn);
    packet.ip_id = static_cast<u16>(number + 1);
    const Buffer header = roce::test::wrap(
        {0x10, 0, 0x88, 0xbe, 0, 0, 0, number, 0x10, 5, 0, 99, 0, 0, 0, 1}, packet.frame());
    frames.add(roce::test::ethernet(0x0800, roce::test::ipv4(47, header)), number * 50us);
  }
  return analyzed(frames);
}

Report one_way(bool others_speak) {
  Frames frames;
  for (u32 psn = 0; psn < 20; psn++) frames.add(Ends{}.send(psn), psn * 100us);
  // An ARP reply shows no IP packet of the peer's, an ICMP echo does.
  if (others_speak)
    frames.add(roce::test::ethernet(
                   0x0800, roce::test::wrap({0x45, 0, 0,  28, 0, 0, 0, 0, 64, 1, 0, 0, 10, 0,
                                             0,    2, 10, 0,  0, 1, 8, 0, 0,  0, 0, 0, 0,  0},
                                            {})),
               1ms);
  return analyzed(frames);
}

// SENDs of which the tap shows one in `stride`, of several queue pairs.
Report one_of(u32 stride) {
  Frames frames;
  for (u32 qp = 0; qp < 3; qp++) {
    const Ends ends{.qp_a = 0x11 + qp, .qp_b = 0x22 + qp};
    for (u32 psn = 0; psn < 400; psn++)
      if (psn * 2654435761u % stride == 0) frames.add(ends.send(psn), psn * 10us + qp * 1us);
  }
  return analyzed(frames);
}

Report at_times(std::chrono::nanoseconds (*time)(u32)) {
  Frames frames;
  for (u32 psn = 0; psn < 20; psn++) {
    frames.add(Ends{}.send(psn), time(2 * psn));
    frames.add(Ends{}.ack(psn), time(2 * psn + 1));
  }
  return analyzed(frames);
}

Report unsorted(bool swapped) {
  Frames frames;
  const auto late = swapped ? 300us : 700us;
  frames.add(Ends{}.send(0), 100us).add(Ends{}.ack(0), 500us);
  frames.add(Ends{.qp_a = 0x12, .qp_b = 0x23}.send(0), late);
  const CaptureFile file;
  frames.write(file.path(), false);
  return analyzed(file.path());
}

Report cut_by(std::size_t bytes) {
  const CaptureFile file;
  exchange(10).write(file.path());
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) - bytes);
  return analyzed(file.path());
}

// A name server answers a client whose own port is 4791; or a client asks from there.
Report dns(bool to_our_port) {
  Frames frames = exchange(4);
  Buffer answer = roce::test::wrap(
      {0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 3, 'w', 'w', 'w', 0, 0, 1, 0, 1}, {});
  frames.add(roce::test::ethernet(
                 0x0800, roce::test::ipv4(17, roce::test::udp(to_our_port ? 4791 : 53, answer))),
             50us);
  return analyzed(frames);
}

}  // namespace

Pairs capture_pairs() {
  return {
      {.id = "capture.loss",
       .has =
           [] {
             return analyzed(
                 Script().send(0).ack(0).send(1).lose_before_tap(2).send(3).ack(3).send(4).ack(4));
           },
       .has_not =
           [] {  // the responder missed it too
             return analyzed(
                 Script().send(0).ack(0).send(1).lose_before_tap(2).send(3).nak(2).resend(2, 3).ack(
                     3));
           },
       .severity = "warning",
       .scope = "capture",
       .count = 1,
       .first_frame = 4,
       .evidence = {{"missed_psns", "1"}, {"missed_responses", "0"}, {"half_flows", "1"}},
       .says = {"1 packet of 1 half-flow", "not sent again"},
       .others_without = {"loss.retransmission"}},
      {.id = "capture.loss",  // an ACK that only the mirror's numbers miss, as the next covers it
       .has = [] { return mirrored({21}); },
       .has_not = [] { return mirrored({}); },
       .severity = "warning",
       .scope = "capture",
       .count = 1,
       .evidence = {{"missed_psns", "0"}, {"missing_of_mirror", "1"}},
       .says = {"By the mirror's sequence numbers 1 packet is missing"}},
      {.id = "capture.loss",  // READ responses that the requester does not miss
       .has =
           [] {
             return analyzed(Script()
                                 .read(0, 4000)
                                 .read_response(0, 1)
                                 .lose_response_before_tap(2)
                                 .read_response(3)
                                 .read(4, 100)
                                 .read_response(4)
                                 .wait(200ms)
                                 .read(5, 100)
                                 .read_response(5));
           },
       .has_not =
           [] {  // the trace ends before the READ's answer comes once more
             return analyzed(Script()
                                 .read(0, 4000)
                                 .read_response(0, 1)
                                 .lose_response_before_tap(2)
                                 .read_response(3)
                                 .read_again(2));
           },
       .severity = "warning",
       .scope = "capture",
       .count = 1,
       .first_frame = 4,
       .evidence = {{"missed_psns", "0"}, {"missed_responses", "1"}},
       .others_without = {"loss.retransmission"}},
      {.id = "capture.two_taps",
       .has = [] { return analyzed(twice(300ms)); },
       .has_not = [] { return analyzed(twice(20us)); },  // copies are told one by one
       .severity = "warning",
       .scope = "capture",
       .evidence = {{"clocks_apart_ns", "300000000"}},
       .says = {"clocks 300 ms apart"}},
      {.id = "capture.duplicates",
       .has =
           [] { return analyzed(Script().send(0).duplicate().ack(0).send(1).duplicate().ack(1)); },
       .has_not =
           [] {  // the sender repeats itself: another IP identification
             return analyzed(Script().send(0).ack(0).send(1).wait(2ms).resend(1).ack(1));
           },
       .severity = "info",
       .scope = "capture",
       .count = 2,
       .first_frame = 2,
       .evidence = {{"duplicates", "2"}, {"half_flows", "1"}},
       .says = {"2 of 6 packets"},
       .others_without = {"loss.retransmission"}},
      {.id = "capture.one_direction",
       .has = [] { return one_way(false); },
       .has_not = [] { return one_way(true); },
       .severity = "warning",
       .scope = "capture",
       .count = 1,
       .evidence = {{"packets_one_way", "20"}, {"packets", "20"}, {"half_flows", "1"}}},
      {.id = "capture.sampled",
       .has = [] { return one_of(16); },
       .has_not = [] { return one_of(1); },
       .severity = "warning",
       .scope = "capture",
       .count = 3,
       .evidence = {{"flows", "3"}},
       .says = {"3 of 3 flows"},
       .others = {"capture.one_direction"},
       .others_without = {"capture.one_direction"}},
      {.id = "capture.snaplen_short",
       .has = [] { return analyzed(exchange(10, {}, 64)); },
       .has_not = [] { return analyzed(exchange(10)); },
       .severity = "info",
       .scope = "capture",
       .count = 10,  // the SENDs; ACKs have 62 bytes
       .evidence = {{"packets", "20"}}},
      {.id = "capture.coarse_timestamps",
       .has = [] { return at_times([](u32 i) { return std::chrono::nanoseconds(i / 4 * 1ms); }); },
       .has_not = [] { return at_times([](u32 i) { return std::chrono::nanoseconds(i * 1us); }); },
       .severity = "info",
       .scope = "capture",
       .count = 30,
       .evidence = {{"share", "0.75"}, {"tick_ns", "1"}}},
      {.id = "capture.time_backwards",
       .has = [] { return unsorted(true); },
       .has_not = [] { return unsorted(false); },
       .severity = "info",
       .scope = "capture",
       .count = 1,
       .evidence = {{"largest_ns", "200000"}}},
      {.id = "capture.cut_short",
       .has = [] { return cut_by(5); },
       .has_not = [] { return cut_by(0); },
       .severity = "info",
       .scope = "capture",
       .count = 1,
       .says = {"ends inside a record"}},
      {.id = "capture.not_roce",
       .has = [] { return dns(true); },
       .has_not = [] { return dns(false); },
       .severity = "info",
       .scope = "capture",
       .count = 1,
       .evidence = {{"roce_packets", "8"}}},
  };
}

}  // namespace rocetrace::test
