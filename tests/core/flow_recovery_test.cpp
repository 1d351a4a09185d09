// SPDX-License-Identifier: BSD-3-Clause
// Why a sender sent again, and where the packet had been lost: every cause and place beside the
// cases that look alike.

#include <gtest/gtest.h>

#include "support/flow_script.hpp"

namespace roce::test {
namespace {

// --- causes

TEST(FlowCause, ASequenceNakThatNamesTheRestart) {
  EXPECT_EQ(Script().send(1, 9).nak(6).resend(6, 9).ack(9).follow().recoveries(),
            "6 nak_sequence downstream 4");
}

TEST(FlowCause, ASequenceNakIsSpentByItsRestart) {
  const Followed seen =
      Script().send(1, 9).nak(6).resend(6, 9).wait(70ms).resend(6, 9).ack(9).follow();
  ASSERT_EQ(seen.episodes.size(), 2u);
  EXPECT_EQ(seen.episodes[0].cause, flow::Cause::nak_sequence);
  EXPECT_EQ(seen.episodes[1].cause, flow::Cause::timeout);
}

TEST(FlowCause, ASequenceNakIsForgottenWithProgress) {
  // 6 .. 9 were answered after all (a NAK that crossed the late packet); 12 times out.
  const Followed seen =
      Script().send(1, 9).nak(6).ack(9).send(10, 12).wait(70ms).resend(12).ack(12).follow();
  EXPECT_EQ(seen.recoveries(), "12 timeout ambiguous 1");
}

TEST(FlowCause, AnRnrNakThatNamesTheRestart) {
  const Followed seen = Script().send(1, 4).rnr(3).wait(2ms).resend(3, 4).ack(4).follow();
  EXPECT_EQ(seen.recoveries(), "3 rnr_nak not_ready 2");
}

TEST(FlowCause, RnrThenASequenceNakAreTwoCauses) {
  // 4 is resent after the timer and lost; the responder then asks for it.
  const Followed seen =
      Script().send(1, 6).rnr(3).wait(2ms).resend(3, 6).ack(3).nak(4).resend(4, 6).ack(6).follow();
  EXPECT_EQ(seen.recoveries(), "3 rnr_nak not_ready 4; 4 nak_sequence downstream 3");
}

TEST(FlowCause, RnrAgainAndAgain) {
  Script script;
  script.send(1, 4);
  for (int i = 0; i < 5; i++) script.rnr(3).wait(2ms).resend(3, 4);
  const Followed seen = script.ack(4).follow();
  EXPECT_EQ(seen.counts().by_cause[static_cast<std::size_t>(flow::Cause::rnr_nak)], 10u);
  EXPECT_EQ(seen.counts().by_place[static_cast<std::size_t>(flow::Place::not_ready)], 10u);
  EXPECT_EQ(seen.counts().episodes, 5u);
}

TEST(FlowCause, OnlyTheMissingAgainIsSelective) {
  const Followed seen = Script()
                            .send(1, 5)
                            .ack(5)
                            .lose_before_tap(6)
                            .send(7, 9)
                            .wait(20ms)
                            .resend(6)
                            .send(10)
                            .ack(10)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "6 selective upstream 1");
}

TEST(FlowCause, TheMissingAndItsSuccessorsAgainIsATimeout) {
  const Followed seen = Script()
                            .send(1, 5)
                            .ack(5)
                            .lose_before_tap(6)
                            .send(7, 9)
                            .wait(20ms)
                            .resend(6, 9)
                            .send(10)
                            .ack(10)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "6 timeout upstream 4");
}

TEST(FlowCause, OnlyTheMissingAgainAfterItsNakIsTheNaks) {
  const Followed seen =
      Script().send(1, 5).lose_before_tap(6).send(7, 9).nak(6).resend(6).send(10).ack(10).follow();
  EXPECT_EQ(seen.recoveries(), "6 nak_sequence upstream 1");
}

TEST(FlowCause, ATimeoutKnowsItsSilence) {
  const Followed seen = Script().send(1, 9).ack(8).wait(67ms).resend(9).ack(9).follow();
  ASSERT_EQ(seen.recoveries(), "9 timeout ambiguous 1");
  EXPECT_EQ(seen.episodes[0].silence, 67'010'000u) << "from the ACK to the resend, nanoseconds";
}

TEST(FlowCause, WithoutTheOtherDirectionItIsUnknown) {
  const Followed seen = Script().send(1, 9).wait(1ms).resend(6, 9).send(10).follow();
  ASSERT_EQ(seen.episodes.size(), 1u);
  EXPECT_EQ(seen.episodes[0].cause, flow::Cause::unknown);
}

TEST(FlowCause, WithoutAnyAnswerALongSilenceIsATimeout) {
  // Nothing comes back at all, as when the path swallows everything: no NAK takes that long.
  const Followed seen =
      Script().send(1, 3).wait(67ms).resend(1, 3).wait(67ms).resend(1, 3).follow();
  EXPECT_EQ(seen.recoveries(), "1 timeout ambiguous 3; 1 timeout ambiguous 3");
}

TEST(FlowCause, AnAnswerThatComesLaterMakesItKnown) {
  // The timer fired before the first answer of the trace.
  const Followed seen = Script().send(1, 9).wait(5ms).resend(6, 9).ack(9).follow();
  EXPECT_EQ(seen.recoveries(), "6 timeout response 4");
}

TEST(FlowCause, ANakExplainsItsRestartThoughProgressWasMadeSince) {
  // 6 was late only, and answered, when the sender heard that it was missed.
  Script script;
  script.send(1, 5).overtaken(6).send(7).nak(6).late(6).ack(7).resend(6, 7).ack(7);
  const Followed seen = script.follow();
  ASSERT_EQ(seen.episodes.size(), 1u);
  EXPECT_EQ(seen.episodes[0].cause, flow::Cause::nak_sequence);
  EXPECT_EQ(seen.counts().reordered, 1u);
}

TEST(FlowCause, ASequenceNakAfterAnRnrNakLostNothing) {
  // 4 .. 6 came while 3 had no buffer, so the responder asks for 3 again. It had it.
  const Followed seen = Script().send(1, 6).rnr(3).nak(3).wait(1300us).resend(3, 6).ack(6).follow();
  EXPECT_EQ(seen.recoveries(), "3 nak_sequence not_ready 4");
}

// --- places

TEST(FlowPlace, SeenInTheRunBeforeIsDownstream) {
  const Followed seen = Script().send(1, 9).nak(4).resend(4, 9).nak(7).resend(7, 9).ack(9).follow();
  EXPECT_EQ(seen.recoveries(), "4 nak_sequence downstream 6; 7 nak_sequence downstream 3");
}

TEST(FlowPlace, SkippedByTheFirstTransmissionIsUpstream) {
  const Followed seen =
      Script().send(1, 5).lose_before_tap(6).send(7, 9).nak(6).resend(6, 9).ack(9).follow();
  EXPECT_EQ(seen.recoveries(), "6 nak_sequence upstream 4");
}

TEST(FlowPlace, SkippedByAResendIsUpstreamThoughSeenBefore) {
  // Seen first, lost behind the tap; then lost before it: each run has its own answer.
  const Followed seen = Script()
                            .send(1, 9)
                            .nak(5)
                            .resend(5)
                            .lose_again_before_tap(6)
                            .resend(7, 9)
                            .nak(6)
                            .resend(6, 9)
                            .ack(9)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "5 nak_sequence downstream 4; 6 nak_sequence upstream 4");
}

TEST(FlowPlace, NeverReachedByAResendIsUpstream) {
  // The resend 6 .. 9 lost its first two packets before the tap, so it seemed to begin at 8.
  const Followed seen = Script()
                            .send(1, 9)
                            .nak(6)
                            .lose_again_before_tap(6)
                            .lose_again_before_tap(7)
                            .resend(8, 9)
                            .wait(70ms)
                            .resend(6, 9)
                            .ack(9)
                            .follow();
  ASSERT_EQ(seen.episodes.size(), 2u);
  EXPECT_EQ(seen.episodes[1].cause, flow::Cause::timeout);
  EXPECT_EQ(seen.episodes[1].place, flow::Place::upstream);
}

TEST(FlowPlace, AnsweredHereIsTheResponse) {
  const Followed seen = Script().send(1, 9).ack(9).wait(70ms).resend(8, 9).ack(9).follow();
  ASSERT_EQ(seen.episodes.size(), 1u);
  EXPECT_EQ(seen.episodes[0].place, flow::Place::response) << "its only ACK may be lost beyond";
}

TEST(FlowPlace, AnsweredHereAgainAndAgainIsSpurious) {
  // One answer may have been lost beyond the tap, hardly two.
  const Followed seen = Script()
                            .send(1, 6)
                            .nak(6)
                            .resend(6)
                            .ack(6)
                            .send(7, 9)
                            .ack(8)
                            .ack(9)
                            .wait(70ms)
                            .resend(7, 9)
                            .ack(9)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "6 nak_sequence downstream 1; 7 timeout spurious 3");
}

TEST(FlowPlace, ThatSuccessorsPassedWithoutANakIsTheResponse) {
  // Had 6 been lost behind the tap, 7 .. 9 would have made the responder ask.
  const Followed seen = Script().send(1, 9).ack(5).wait(70ms).resend(6, 9).ack(9).follow();
  EXPECT_EQ(seen.recoveries(), "6 timeout response 4");
}

TEST(FlowPlace, TheTailOfARunIsAmbiguous) {
  EXPECT_EQ(Script().send(1, 9).ack(8).wait(70ms).resend(9).ack(9).follow().recoveries(),
            "9 timeout ambiguous 1");
}

TEST(FlowPlace, TheTailWithoutAnyAnswerIsAmbiguous) {
  EXPECT_EQ(Script()
                .send(1, 9)
                .ack(8)
                .wait(70ms)
                .resend(9)
                .wait(70ms)
                .resend(9)
                .follow()
                .counts()
                .by_place[static_cast<std::size_t>(flow::Place::ambiguous)],
            2u);
}

TEST(FlowPlace, ThatTheResponderAsksForASuccessorIsTheResponse) {
  // It timed out at 7, yet the responder has 7 and 8: it misses 9.
  const Followed seen = Script().send(1, 9).ack(5).wait(70ms).resend(7).nak(9).follow();
  EXPECT_EQ(seen.recoveries(), "7 timeout response 1");
}

TEST(FlowPlace, WithoutTheOtherDirectionOnlyAHoleTells) {
  EXPECT_EQ(Script()
                .send(1, 5)
                .lose_before_tap(6)
                .send(7, 9)
                .wait(1ms)
                .resend(6, 9)
                .follow()
                .recoveries(),
            "6 unknown upstream 4");
  const Followed seen = Script().send(1, 9).wait(1ms).resend(6, 9).send(10).follow();
  ASSERT_EQ(seen.episodes.size(), 1u);
  EXPECT_TRUE(seen.episodes[0].place == flow::Place::ambiguous) << name(seen.episodes[0].place);
}

TEST(FlowPlace, NearCaptureLossUpstreamIsAmbiguous) {
  // 6 was missed by the capture alone, so 8 may have been missed by it too.
  const Followed seen = Script()
                            .send(1, 5)
                            .lose_before_tap(6)
                            .send(7)
                            .ack(7)
                            .lose_before_tap(8)
                            .send(9)
                            .nak(8)
                            .resend(8, 9)
                            .ack(9)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "8 nak_sequence ambiguous 2");
}

TEST(FlowPlace, LongAfterCaptureLossUpstreamIsUpstream) {
  const Followed seen = Script()
                            .send(1, 5)
                            .lose_before_tap(6)
                            .send(7)
                            .ack(7)
                            .wait(50ms)
                            .lose_before_tap(8)
                            .send(9)
                            .nak(8)
                            .resend(8, 9)
                            .ack(9)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "8 nak_sequence upstream 2");
}

// --- what is not a loss of the network

TEST(FlowCaptureLoss, AHoleThatAnAckCoversIsTheCaptures) {
  const Followed seen = Script().send(1, 5).lose_before_tap(6, 8).send(9).ack(9).send(10).follow();
  EXPECT_EQ(seen.counts().gaps, 1u);
  EXPECT_EQ(seen.counts().missing_psns, 3u);
  EXPECT_EQ(seen.counts().capture_missed_psns, 3u);
  EXPECT_EQ(seen.counts().retransmissions, 0u);
}

TEST(FlowCaptureLoss, AHoleThatAReadResponseCoversIsTheCaptures) {
  const Followed seen =
      Script().message(1, 3).lose_before_tap(4).read(5, 2048).read_response(5, 6).follow();
  EXPECT_EQ(seen.counts().capture_missed_psns, 1u);
}

TEST(FlowCaptureLoss, AHoleThatIsSentAgainIsNot) {
  const Followed seen =
      Script().send(1, 5).lose_before_tap(6).send(7).nak(6).resend(6, 7).ack(7).follow();
  EXPECT_EQ(seen.counts().capture_missed_psns, 0u);
}

TEST(FlowCaptureLoss, AHoleThatNobodyAnswersIsNot) {
  EXPECT_EQ(
      Script().send(1, 5).ack(5).lose_before_tap(6).send(7).follow().counts().capture_missed_psns,
      0u);
}

TEST(FlowCaptureLoss, ANakForTheHoleIsNoAnswerToIt) {
  const Followed seen = Script().send(1, 5).lose_before_tap(6).send(7).nak(6).follow();
  EXPECT_EQ(seen.counts().capture_missed_psns, 0u);
}

TEST(FlowUc, LossesAreGapsThatNobodyRepairs) {
  const Followed seen = Script(Ids::counted, Service::uc)
                            .send(1, 5)
                            .lose_before_tap(6, 7)
                            .send(8)
                            .wait(1s)
                            .send(9)
                            .follow();
  EXPECT_EQ(seen.counts().gaps, 1u);
  EXPECT_EQ(seen.counts().missing_psns, 2u);
  EXPECT_EQ(seen.counts().episodes, 0u);
}

// --- episodes and amplification

TEST(FlowEpisode, GoBackNSendsManyForOneLost) {
  const Followed seen =
      Script().send(1, 5).lose_before_tap(6).send(7, 40).nak(6).resend(6, 40).ack(40).follow();
  EXPECT_EQ(seen.counts().missing_psns, 1u);
  EXPECT_EQ(seen.counts().retransmissions, 35u);
  EXPECT_EQ(seen.counts().episodes, 1u);
}

TEST(FlowEpisode, IsOpenToItsOldEndOnly) {
  const Followed seen = Script().send(1, 9).nak(6).resend(6, 9).send(10, 12).ack(12).follow();
  EXPECT_EQ(seen.counts().retransmissions, 4u);
  EXPECT_EQ(seen.classes().substr(seen.classes().rfind("retransmission")),
            "retransmission in_order in_order in_order");
}

TEST(FlowEpisode, ManyOpenAtOnceAreAllSettled) {
  Script script;
  script.send(1, 40);
  for (u32 psn = 30; psn >= 10; psn--) script.wait(70ms).resend(psn, psn + 2);
  const Followed seen = script.follow();  // consistency is checked there
  EXPECT_EQ(seen.counts().episodes, 21u);
}

}  // namespace
}  // namespace roce::test
