// SPDX-License-Identifier: BSD-3-Clause
// What users of RDMA networks ran into most, rebuilt as captures: what they could not find out
// stands on the first screen of the report.

#include <sstream>

#include "fixture.hpp"
#include "report/formats.hpp"
#include "report/sink.hpp"

namespace rocetrace::test {
namespace {

using testing::HasSubstr;

// The first 40 lines at 100 columns, with what was wrapped in one line again.
std::string first_screen(const Frames& frames, Options options = {}) {
  const CaptureFile file;
  frames.write(file.path());
  options.captures = {file.path()};
  Progress progress{false};
  const Analysis analysis = analyze(options, progress);
  std::string text;
  {
    Sink out = Sink::memory(text);
    write_text(analysis.report, {.width = 100, .colour = false}, out);
    out.commit();
  }
  std::istringstream lines(text);
  std::string screen, line;
  for (int i = 0; i < 40 && std::getline(lines, line); i++) {
    EXPECT_LE(line.size(), 100u) << line;
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != std::string::npos) screen += line.substr(begin) + ' ';
  }
  return screen;
}

// Traffic of other queue pairs that works, for `time`.
void add_others(Frames& frames, std::chrono::nanoseconds time, u32 count = 1) {
  for (u32 i = 0; i < count; i++) {
    const Ends ends{.a = fmt::format("10.0.1.{}", i % 200 + 1),
                    .b = fmt::format("10.0.2.{}", i % 200 + 1),
                    .qp_a = 0x1000 + i,
                    .qp_b = 0x2000 + i,
                    .port = static_cast<u16>(49152 + i % 16384)};
    for (u32 k = 0; k < 5; k++)
      frames.add(ends.send(k), time / 5 * k + i * 1us)
          .add(ends.ack(k), time / 5 * k + i * 1us + 10us);
  }
}

// "Bandwidth falls, and all drop counters are zero": go-back-N behind a switch that drops.
TEST(Case, BandwidthFallsThoughNoCounterMoves) {
  Frames frames;
  const Ends ends;
  auto now = 0us;
  for (u32 psn = 0; psn < 200; psn += 40) {
    for (u32 k = 0; k < 40; k++) frames.add(ends.send(psn + k), now += 1us);
    frames.add(ends.nak(psn + 10), now += 20us);
    for (u32 k = 10; k < 40; k++) frames.add(ends.send(psn + k), now += 1us);
    frames.add(ends.ack(psn + 39), now += 20us);
  }
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("10.0.0.1 QP 0x11 -> 10.0.0.2 QP 0x22"));
  EXPECT_THAT(screen, HasSubstr("150 of 350 packets (43 %) were sent again"));
  EXPECT_THAT(screen, HasSubstr("in 5 recoveries"));
  EXPECT_THAT(screen, HasSubstr("by place: downstream 150"));
  EXPECT_THAT(screen, HasSubstr("Each recovery repeated 30.0 packets"));
}

// "Packets are resent every 10 ms whatever the timeout": a path of 30 ms, and an adaptive timer.
TEST(Case, LongPathAndAnAdaptiveTimer) {
  Frames frames;
  const Ends ends;
  for (u32 psn = 0; psn < 8; psn++) {
    const auto start = psn * 100ms;
    for (const auto again : {0ms, 8ms, 20ms}) frames.add(ends.send(psn), start + again);
    for (const auto answer : {30ms, 38ms, 50ms}) frames.add(ends.ack(psn), start + answer);
  }
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("16 of 24 packets (67 %) were sent again"));
  EXPECT_THAT(screen, HasSubstr("by cause: timeout 16"));
  EXPECT_THAT(screen, HasSubstr("response"));
  EXPECT_THAT(screen, HasSubstr("timeout.series"));
  EXPECT_THAT(screen, HasSubstr("with waits of"));
}

// "Completion error 12 right at the start": the peer never answered.
TEST(Case, ErrorTwelveAndNeverAnAnswer) {
  Frames frames;
  const Ends ends;
  for (u32 i = 0; i < 8; i++) frames.add(ends.send(0), i * 67ms);
  add_others(frames, 2s, 20);
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("path.one_way"));
  EXPECT_THAT(screen, HasSubstr("PSN 0 was sent 8 times, and no packet ever came back"));
  EXPECT_THAT(screen, HasSubstr("no answer was ever seen"));
  EXPECT_THAT(screen, HasSubstr("10.0.0.1 -> 10.0.0.2 QP 0x22"));
}

// The same error, one queue pair among thousands, in the middle of the run.
TEST(Case, OneDeadQueuePairAmongThousands) {
  Frames frames;
  const Ends ends{.qp_a = 0x777, .qp_b = 0x888};
  for (u32 psn = 0; psn < 10; psn++)
    frames.add(ends.send(psn), psn * 1ms).add(ends.ack(psn), psn * 1ms + 10us);
  for (u32 i = 0; i < 8; i++) frames.add(ends.send(10), 10ms + i * 67ms);
  add_others(frames, 2s, 3000);
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("10.0.0.1 QP 0x777 -> 10.0.0.2 QP 0x888"));
  EXPECT_THAT(screen, HasSubstr("gave up: PSN"));
  EXPECT_THAT(screen, HasSubstr("sent again 7 times without progress"));
  EXPECT_THAT(screen, HasSubstr("the last answer came 0.009010 s into the trace"));
  EXPECT_THAT(screen, HasSubstr("path.responses_stopped"));
}

// "SRQ too small": RNR NAKs to many peers at once are one host's trouble.
TEST(Case, SharedReceiveQueueTooSmall) {
  Frames frames;
  for (u32 i = 0; i < 12; i++) {
    const Ends ends{.a = fmt::format("10.0.1.{}", i + 1), .b = "10.0.0.9", .qp_b = 0x22 + i};
    for (u32 psn = 0; psn < 5; psn++) {
      const auto start = psn * 20ms + i * 100us;
      frames.add(ends.send(psn), start).add(ends.ack(psn, 0x20 | 12), start + 10us);
      frames.add(ends.send(psn), start + 2ms).add(ends.ack(psn), start + 2ms + 10us);
    }
  }
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("10.0.0.9 sent 60 RNR NAKs to 12 queue pairs"));
  EXPECT_THAT(screen, HasSubstr("asking for 640 us of wait"));
  EXPECT_THAT(screen, HasSubstr("receive buffers"));
}

// "RNR NAKs, and CNPs though nothing was ever marked": slow restart, not ECN.
TEST(Case, CnpsThatAnswerLossesAndNoMarks) {
  Frames frames;
  const Ends ends;
  for (u32 psn = 0; psn < 20; psn += 4) {
    const auto start = psn * 1ms;
    for (u32 k = 0; k < 4; k++) frames.add(ends.send(psn + k), start + k * 1us);
    frames.add(ends.nak(psn + 1), start + 20us).add(ends.cnp(), start + 22us);
    for (u32 k = 1; k < 4; k++) frames.add(ends.send(psn + k), start + 40us + k * 1us);
    frames.add(ends.ack(psn + 3), start + 60us);
  }
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("cnp.without_ce"));
  EXPECT_THAT(screen, HasSubstr("5 within 10 us of a NAK"));
  EXPECT_THAT(screen, HasSubstr("No mark was seen in the whole trace"));
}

// "Wrong GID index": RoCEv1 on one end, RoCEv2 on the other.
TEST(Case, GidsOfDifferentKinds) {
  Frames frames;
  const Ends ends;
  for (u32 i = 0; i < 5; i++) {
    Packet v1 = ends.send(0);
    v1.version = 1;
    frames.add(v1, i * 67ms);
    frames.add(ends.from_b({.psn = 900, .payload_size = 64}), i * 67ms + 5ms);
  }
  add_others(frames, 1s);
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("path.gid_mismatch"));
  EXPECT_THAT(screen, HasSubstr("10.0.0.1 and 10.0.0.2 exchange RoCEv1 (5 packets, one way only) "
                                "and RoCEv2 (5 packets, one way only)"));
}

// "remote invalid request": one end cuts messages by 4096, the other by 1024.
TEST(Case, MixedPathMtu) {
  Frames frames;
  const Ends ends;
  for (u32 k = 0; k < 3; k++)
    frames.add(ends.from_b({.opcode = static_cast<u8>(k),
                            .psn = 50 + k,
                            .payload_size = k < 2 ? std::size_t{1024} : 100}),
               k * 1us);
  frames.add(ends.from_a({.opcode = 0x11, .psn = 52}), 10us);
  frames.add(ends.from_a({.opcode = 0x00, .psn = 0, .payload_size = 4096}), 20us);
  frames.add(ends.from_a({.opcode = 0x01, .psn = 1, .payload_size = 4096}), 21us);
  frames.add(ends.ack(0, 0x61), 40us);
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("path.mtu_mismatch"));
  EXPECT_THAT(screen, HasSubstr("of 4096 bytes this way, and of 1024"));
  EXPECT_THAT(screen, HasSubstr("The responder refused it in frame 7"));
  EXPECT_THAT(screen, HasSubstr("for PSN 0 in frame 7"));
}

// "path_mtu 4096 on a network of 1500": what is small works.
TEST(Case, LargePacketsFallIntoAHole) {
  Frames frames;
  const Ends ends;
  for (u32 psn = 0; psn < 4; psn++)
    frames.add(ends.send(psn), psn * 1ms).add(ends.ack(psn), psn * 1ms + 20us);
  for (u32 i = 0; i < 8; i++)
    frames.add(ends.from_a({.opcode = 0x00, .psn = 4, .payload_size = 4096}), 10ms + i * 67ms)
        .add(ends.from_a({.opcode = 0x02, .psn = 5, .payload_size = 9}), 10ms + i * 67ms + 1us);
  add_others(frames, 2s);
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("path.mtu_blackhole"));
  EXPECT_THAT(screen, HasSubstr("its first packet of full size (PSN 4, a frame of 4154 bytes)"));
  EXPECT_THAT(screen, HasSubstr("while smaller packets were answered"));
}

// "ECN is on, and PFC storms all the same": marks, and a receiver that sends no CNP.
TEST(Case, MarksWithoutCnpsAndThenAStorm) {
  Frames frames;
  const Ends ends;
  for (u32 psn = 0; psn < 500; psn++) {
    const Packet packet = ends.send(psn);
    frames.add(psn % 5 == 0 ? marked(packet) : packet, psn * 1ms);
    frames.add(ends.ack(psn), psn * 1ms + 20us);
  }
  Buffer pfc = roce::test::wrap(
      {1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 8, 1, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0xff, 0xff},
      {});
  pfc.resize(60);
  for (u32 i = 0; i < 1600; i++) frames.add(pfc, 1ms + i * 300us);
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("pfc.storm"));
  EXPECT_THAT(screen, HasSubstr("02:00:00:00:00:09 paused priority 3"));
  EXPECT_THAT(screen, HasSubstr("cnp.missing"));
  EXPECT_THAT(screen, HasSubstr("100 of 500 packets were CE-marked, and no CNP came back"));
}

// "All QPs use UDP source port 49152": one path for everything.
TEST(Case, OneSourcePortForAll) {
  Frames frames;
  for (u32 i = 0; i < 16; i++) {
    const Ends ends{.qp_a = 0x11 + i, .qp_b = 0x22 + i, .port = 49152};
    for (u32 psn = 0; psn < 8; psn++)
      frames.add(ends.send(psn), psn * 100us + i * 1us)
          .add(ends.ack(psn), psn * 100us + i * 1us + 20us);
  }
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("entropy.constant"));
  EXPECT_THAT(screen,
              HasSubstr("10.0.0.1 -> 10.0.0.2: all 16 queue pairs use UDP source port 49152 "
                        "(0xc000)"));
}

// "15 % CE, 62 marks for a CNP, data with DSCP 0, CNPs with DSCP 48 and source port 0."
TEST(Case, MarkedDataInTheDefaultClass) {
  Frames frames;
  const Ends ends{.tos = 2};
  for (u32 psn = 0; psn < 2000; psn++) {
    const Packet packet = ends.send(psn);
    frames.add(psn % 20 < 3 ? marked(packet) : packet, psn * 5us);
    if (psn % 10 == 9) frames.add(ends.ack(psn), psn * 5us + 2us);
    if (psn % 400 != 399) continue;
    Packet cnp = ends.cnp();
    cnp.source_port = 0;
    frames.add(cnp, psn * 5us + 3us);
  }
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("300 of 2,000 ECN-capable packets were CE-marked (15 %)"));
  EXPECT_THAT(screen, HasSubstr("300 CE marks with 5 CNPs: 60 each"));
  EXPECT_THAT(screen, HasSubstr("all 2,000 packets carry DSCP 0"));
}

// "Setup silently lost at a reboot": one host's traffic is in the default class.
TEST(Case, OneHostLostItsTrafficClass) {
  Frames frames;
  add_others(frames, 10ms, 10);
  const Ends ends{.tos = 0};
  for (u32 psn = 0; psn < 10; psn++)
    frames.add(ends.send(psn), psn * 1ms).add(ends.ack(psn), psn * 1ms + 10us);
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("dscp.unmarked"));
  EXPECT_THAT(screen, HasSubstr("10.0.0.1 QP 0x11 -> 10.0.0.2 QP 0x22"));
  EXPECT_THAT(screen, HasSubstr("all 10 packets carry DSCP 0, while other data here is marked"));
}

// A mirror port that could not keep up looks like a network that loses.
TEST(Case, MirrorPortDropsAndTheNetworkDoesNot) {
  Frames frames;
  const Ends ends;
  for (u32 psn = 0; psn < 300; psn++) {
    if (psn % 50 < 5 && psn > 10) {  // bursts that the mirror dropped
      if (psn % 50 == 4) frames.add(ends.ack(psn), psn * 10us + 5us);
      continue;
    }
    frames.add(ends.send(psn), psn * 10us);
    if (psn % 5 == 4) frames.add(ends.ack(psn), psn * 10us + 5us);
  }
  const std::string screen = first_screen(frames);
  EXPECT_THAT(screen, HasSubstr("trust: low"));
  EXPECT_THAT(screen, HasSubstr("capture.loss"));
  EXPECT_THAT(screen, HasSubstr("25 packets of 1 half-flow were never seen here"));
  EXPECT_THAT(screen, testing::Not(HasSubstr("loss.retransmission")));
}

}  // namespace
}  // namespace rocetrace::test
