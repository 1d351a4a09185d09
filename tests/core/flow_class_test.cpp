// SPDX-License-Identifier: BSD-3-Clause
// Which class a request packet gets: the rules, and each rule beside its neighbours.

#include <gtest/gtest.h>

#include "support/flow_script.hpp"

namespace roce::test {
namespace {

// What must not depend on whether IP identifications tell one transmission from another.
class FlowClass : public testing::TestWithParam<Ids> {
 protected:
  Script script() const { return Script(GetParam()); }
};
std::string ids_name(const testing::TestParamInfo<Ids>& info) {
  return info.param == Ids::counted ? "IdsCounted" : info.param == Ids::zero ? "IdsZero" : "Ipv6";
}
INSTANTIATE_TEST_SUITE_P(Flow, FlowClass, testing::Values(Ids::counted, Ids::zero, Ids::ipv6),
                         ids_name);

TEST_P(FlowClass, FirstThenInOrder) {
  EXPECT_EQ(script().send(5, 8).ack(8).follow().classes(), "first in_order in_order in_order");
}

TEST_P(FlowClass, AGapOpensWhatWasSkipped) {
  const Followed seen = script().send(5).lose_before_tap(6, 7).send(8, 9).follow();
  EXPECT_EQ(seen.classes(), "first gap in_order");
  EXPECT_EQ(seen.arrivals[1].missing, 2u);
  EXPECT_EQ(seen.counts().gaps, 1u);
  EXPECT_EQ(seen.counts().missing_psns, 2u);
}

TEST_P(FlowClass, EverythingWorksAcrossTheWrap) {
  const Followed seen = script()
                            .send(0xfffffc, 0xfffffd)
                            .lose_before_tap(0xfffffe, 0)
                            .send(1)
                            .nak(0xfffffe)
                            .resend(0xfffffe, 1)
                            .send(2)
                            .ack(2)
                            .follow();
  EXPECT_EQ(seen.classes(),
            "first in_order gap retransmission retransmission retransmission retransmission "
            "in_order");
  EXPECT_EQ(seen.counts().missing_psns, 3u);
  EXPECT_EQ(seen.recoveries(), "16777214 nak_sequence upstream 4");
}

TEST_P(FlowClass, AHoleFilledAfterANakIsARetransmission) {
  const Followed seen =
      script().send(1, 5).lose_before_tap(6).send(7).nak(6).resend(6).send(8).ack(8).follow();
  EXPECT_EQ(seen.classes(),
            "first in_order in_order in_order in_order gap retransmission in_order");
}

TEST_P(FlowClass, AHoleFilledLateIsReordering) {
  const Followed seen = script().send(1, 5).overtaken(6).send(7).late(6).send(8).ack(8).follow();
  EXPECT_EQ(seen.classes(), "first in_order in_order in_order in_order gap reordered in_order");
  EXPECT_EQ(seen.counts().reordered, 1u);
  EXPECT_EQ(seen.counts().episodes, 0u);
}

TEST_P(FlowClass, SeveralPacketsMayComeLateInAnyOrder) {
  const Followed seen = script()
                            .send(1, 5)
                            .overtaken(6)
                            .overtaken(7)
                            .overtaken(8)
                            .send(9)
                            .late(7)
                            .late(6)
                            .send(10)
                            .late(8)
                            .send(11)
                            .ack(11)
                            .follow();
  EXPECT_EQ(seen.classes(),
            "first in_order in_order in_order in_order gap reordered reordered in_order reordered "
            "in_order");
}

TEST_P(FlowClass, AHoleFilledLateAtTheEndOfTheTraceIsReordering) {
  EXPECT_EQ(script().send(1, 4).overtaken(5).send(6).late(5).follow().counts().reordered, 1u);
}

TEST_P(FlowClass, AHoleFilledWithItsSuccessorsIsARestart) {
  // The NAK itself was not seen; that 7 comes again tells.
  const Followed seen =
      script().send(1, 5).lose_before_tap(6).send(7).resend(6, 7).send(8).ack(8).follow();
  EXPECT_EQ(seen.classes(),
            "first in_order in_order in_order in_order gap retransmission retransmission in_order");
  EXPECT_EQ(seen.counts().episodes, 1u);
}

TEST_P(FlowClass, AHoleOfSeveralFilledWithItsSuccessorsIsARestart) {
  const Followed seen =
      script().send(1, 5).lose_before_tap(6, 7).send(8).resend(6, 8).ack(8).follow();
  EXPECT_EQ(seen.counts().retransmissions, 3u);
  EXPECT_EQ(seen.counts().episodes, 1u);
  EXPECT_EQ(seen.counts().reordered, 0u);
}

TEST_P(FlowClass, AHoleFilledAfterASilenceIsARetransmission) {
  const Followed seen = script()
                            .send(1, 5)
                            .lose_before_tap(6)
                            .send(7, 8)
                            .wait(20ms)
                            .resend(6)
                            .send(9)
                            .ack(9)
                            .follow();
  EXPECT_EQ(seen.classes(),
            "first in_order in_order in_order in_order gap in_order retransmission in_order");
}

TEST_P(FlowClass, ASeenPsnAgainIsARetransmission) {
  const Followed seen = script().send(1, 7).ack(5).wait(20ms).resend(6, 7).ack(7).follow();
  EXPECT_EQ(seen.counts().retransmissions, 2u);
  EXPECT_EQ(seen.counts().retransmitted_bytes, 128u);
  EXPECT_EQ(seen.counts().gaps, 0u);
}

TEST_P(FlowClass, ASeenPsnAgainRightAfterItsNakIsARetransmission) {
  // Microseconds after the first copy, as a mirror's second copy would be.
  const Followed seen = script().send(1, 7).nak(7).resend(7).ack(7).follow();
  EXPECT_EQ(seen.counts().retransmissions, 1u);
  EXPECT_EQ(seen.counts().duplicate_captures, 0u);
}

TEST_P(FlowClass, ARestartOverPacketsLostAgainStaysARestart) {
  const Followed seen = script()
                            .send(1, 9)
                            .nak(5)
                            .resend(5)
                            .lose_again_before_tap(6)
                            .resend(7, 9)
                            .send(10)
                            .ack(5)
                            .follow();
  EXPECT_EQ(seen.counts().retransmissions, 4u);
  EXPECT_EQ(seen.counts().gaps, 0u) << "6 was seen in an earlier run";
  EXPECT_EQ(seen.counts().episodes, 1u);
}

TEST_P(FlowClass, ARestartInsideARestartIsTwoEpisodes) {
  const Followed seen =
      script().send(1, 9).nak(4).resend(4, 7).nak(6).resend(6, 9).send(10).ack(10).follow();
  EXPECT_EQ(seen.counts().retransmissions, 8u);
  EXPECT_EQ(seen.recoveries(), "4 nak_sequence downstream 4; 6 nak_sequence downstream 4");
}

TEST_P(FlowClass, TheSamePacketTwiceInAMicrosecondIsTheMirrors) {
  const Followed seen = script().send(1, 6).duplicate().send(7).ack(7).follow();
  EXPECT_EQ(seen.classes(),
            "first in_order in_order in_order in_order in_order duplicate_capture in_order");
  EXPECT_EQ(seen.flow().requests.packets(), 7u) << "duplicate captures are left out";
  EXPECT_EQ(seen.flow().packets(), 8u) << "but they are packets of the half-flow";
}

TEST_P(FlowClass, TheMirrorMaySeeItThriceOrWithoutAHopBetween) {
  const Followed seen = script().send(1, 6).duplicate(0).duplicate(1).send(7).ack(7).follow();
  EXPECT_EQ(seen.counts().duplicate_captures, 2u);
  EXPECT_EQ(seen.counts().retransmissions, 0u);
}

TEST_P(FlowClass, TheMirrorCopiesARetransmissionToo) {
  const Followed seen =
      script().send(1, 5).lose_before_tap(6).send(7).nak(6).resend(6).duplicate().send(8).follow();
  EXPECT_EQ(seen.counts().retransmissions, 1u);
  EXPECT_EQ(seen.counts().duplicate_captures, 1u);
}

TEST_P(FlowClass, AFarPsnIsStaleAndDisturbsNothing) {
  const Followed seen = script().send(5).send(0x500005).send(6).send(0xa00000).send(7).follow();
  EXPECT_EQ(seen.classes(), "first stale in_order stale in_order");
  EXPECT_EQ(seen.counts().stale, 2u);
  EXPECT_EQ(seen.counts().gaps, 0u);
}

TEST_P(FlowClass, AJumpOfTwoToTheTwentyTwoIsStillAGap) {
  EXPECT_EQ(script().send(0).send(1 + (1 << 22)).follow().classes(), "first gap");
  EXPECT_EQ(script().send(0).send(2 + (1 << 22)).follow().classes(), "first stale");
}

TEST_P(FlowClass, AFarPsnAfterTenSecondsIsANewEpoch) {
  const Followed seen = script().send(5, 6).ack(6).wait(11s).send(0x600000, 0x600001).follow();
  EXPECT_EQ(seen.classes(), "first in_order first in_order");
  EXPECT_EQ(seen.counts().stale, 0u);
}

TEST_P(FlowClass, NeitherSilenceNorAJumpAloneIsAnEpoch) {
  EXPECT_EQ(script().send(5).wait(11s).send(6).follow().classes(), "first in_order");
  EXPECT_EQ(script().send(5).wait(11s).send(8).follow().classes(), "first gap");
  EXPECT_EQ(script().send(5).wait(9s).send(0x600000).follow().classes(), "first stale");
}

TEST_P(FlowClass, AnEpochForgetsTheOldSequence) {
  const Followed seen = script()
                            .send(5)
                            .lose_before_tap(6)
                            .send(7)
                            .wait(11s)
                            .send(0x600000)
                            .send(0x600001)
                            .ack(0x600001)
                            .follow();
  EXPECT_EQ(seen.classes(), "first gap first in_order");
  EXPECT_EQ(seen.counts().capture_missed_psns, 0u) << "nobody answered the old hole";
}

TEST(FlowClass, ARestartOvertakenByItsSuccessorsIsOneRestart) {
  const Followed seen = Script()
                            .send(1, 9)
                            .nak(5)
                            .overtaken_again(5)
                            .overtaken_again(6)
                            .resend(7)
                            .late(5)
                            .late(6)
                            .resend(8, 9)
                            .send(10)
                            .ack(10)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "5 nak_sequence downstream 5");
  EXPECT_EQ(seen.counts().gaps, 0u);
}

TEST(FlowClass, AnEarlierPsnOfUcIsReorderingHoweverLate) {
  const Followed seen = Script(Ids::counted, Service::uc)
                            .send(1, 5)
                            .lose_before_tap(6)
                            .send(7, 8)
                            .wait(1s)
                            .resend(6)
                            .resend(7)
                            .send(9)
                            .follow();
  EXPECT_EQ(seen.classes(),
            "first in_order in_order in_order in_order gap in_order reordered reordered in_order");
}

TEST(FlowClass, TheMirrorCopiesUcToo) {
  const Followed seen = Script(Ids::counted, Service::uc).send(1, 6).duplicate().send(7).follow();
  EXPECT_EQ(seen.counts().duplicate_captures, 1u);
  EXPECT_EQ(seen.counts().reordered, 0u);
}

TEST(FlowClass, XrcIsReliable) {
  const Followed seen =
      Script(Ids::counted, Service::xrc).send(1, 5).nak(4).resend(4, 5).ack(5).follow();
  EXPECT_EQ(seen.recoveries(), "4 nak_sequence downstream 2");
}

TEST(FlowClass, UdPacketsHaveNone) {
  const Followed seen = Script(Ids::counted, Service::ud).send(5).send(9).send(5).follow();
  EXPECT_EQ(seen.classes(), "none none none");
  EXPECT_EQ(seen.flow().requests.packets(), 3u);
  EXPECT_EQ(seen.counts().gaps, 0u);
}

TEST(FlowClass, PacketsToQpOneHaveNone) {
  const Followed seen =
      Script(Ids::counted, Service::ud).between(1, 1).send(5).send(9).send(5).follow();
  EXPECT_EQ(seen.classes(), "none none none");
}

TEST(FlowClass, CnpsHaveNoneAndStandBesideTheSequences) {
  const Followed seen = Script().send(5).ce().cnp().send(6).ack(6).cnp().send(7).ack(7).follow();
  EXPECT_EQ(seen.classes(1), "first in_order in_order");
  EXPECT_EQ(seen.classes(2), "");
  EXPECT_EQ(seen.flow(2).rare_state->cnp.packets, 2u);
  EXPECT_EQ(seen.flow(1).ces_since_cnp, 0u);
}

TEST(FlowClass, AcknowledgementsAreNeverGaps) {
  const Followed seen = Script().send(5, 60).ack(20).ack(21).ack(60).follow();
  EXPECT_EQ(seen.flow(2).responses.gaps(), nullptr);
  EXPECT_EQ(seen.flow(2).responses.counts().acks, 3u);
  EXPECT_EQ(seen.classes(2), "");
}

TEST(FlowClass, OneHalfFlowCarriesRequestsAndAnswersApart) {
  Script script;
  script.a_asks().send(100, 101).ack(101);
  script.b_asks().send(7'000'000, 7'000'001).ack(7'000'001);
  script.a_asks().send(102).ack(102);
  script.b_asks().send(7'000'002).ack(7'000'002);
  const Followed seen = script.follow();
  EXPECT_EQ(seen.classes(1), "first in_order in_order");
  EXPECT_EQ(seen.classes(2), "first in_order in_order");
}

TEST(FlowClass, MoreHolesThanTheListHoldsStayCountable) {
  Script script;
  script.send(1, 5);
  for (u32 psn = 6; psn < 106; psn += 2) script.lose_before_tap(psn).send(psn + 1);
  script.wait(20ms).resend(6, 105).send(106).ack(106);
  const Followed seen = script.follow();
  EXPECT_EQ(seen.counts().gaps, 50u);
  EXPECT_EQ(seen.counts().missing_psns, 50u);
  EXPECT_EQ(seen.counts().retransmissions, 100u);
  EXPECT_EQ(seen.counts().episodes, 1u);
}

TEST(FlowClass, TimeGoingBackwardsIsSurvived) {
  const Followed seen = Script()
                            .send(1, 5)
                            .wait(-2ms)
                            .send(6)
                            .lose_before_tap(7)
                            .send(8)
                            .wait(-3ms)
                            .resend(7, 8)
                            .follow();
  EXPECT_EQ(seen.counts().gaps, 1u);
}

}  // namespace
}  // namespace roce::test
