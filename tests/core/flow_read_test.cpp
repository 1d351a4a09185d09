// SPDX-License-Identifier: BSD-3-Clause
// READs take as many PSNs as their responses, atomics are answered one by one: the two request
// kinds that a plain counter of packets gets wrong.

#include <gtest/gtest.h>

#include "support/flow_script.hpp"

namespace roce::test {
namespace {

TEST(FlowRead, TakesThePsnsOfItsResponses) {
  const Followed seen = Script()
                            .message(0, 3)
                            .read(3, 10'001)
                            .read_response(3, 12)
                            .read(13, 1024)
                            .read_response(13)
                            .read(14, 1025)
                            .send(16)
                            .follow();
  EXPECT_EQ(seen.classes(), "first in_order in_order in_order in_order in_order in_order");
}

TEST(FlowRead, OfNothingTakesOnePsn) {
  EXPECT_EQ(Script().read(5, 0).read_response(5).send(6).follow().classes(), "first in_order");
}

TEST(FlowRead, TakesItsPsnsAcrossTheWrap) {
  const Followed seen = Script()
                            .message(0xfffff8, 3)
                            .read(0xfffffb, 10'000)
                            .read_response(0xfffffb, 4)
                            .send(5)
                            .follow();
  EXPECT_EQ(seen.classes(), "first in_order in_order in_order in_order");
  EXPECT_EQ(seen.flow(2).responses.gaps(), nullptr);
}

TEST(FlowRead, LearnsTheMtuFromTheNextRequest) {
  const Followed seen = Script().read(5, 3000).send(8).read(9, 3000).send(12).follow();
  EXPECT_EQ(seen.classes(), "first in_order in_order in_order");
  EXPECT_EQ(seen.flow().requests.path_mtu, 1024);
}

TEST(FlowRead, LearnsTheMtuFromTheResponses) {
  const Followed seen = Script().read(5, 3000).read_response(5, 7).send(9).follow();
  EXPECT_EQ(seen.classes(), "first gap") << "it is known that 8 comes next";
  EXPECT_EQ(seen.flow().requests.path_mtu, 1024);
}

TEST(FlowRead, LearnsTheMtuFromAMessageOfTheOtherDirection) {
  Script script;
  script.b_asks().send(7'000'000).ack(7'000'000).message(7'000'001, 2).ack(7'000'002);
  script.a_asks().read(5, 3000).send(8).send(10);
  EXPECT_EQ(script.follow().classes(2), "first in_order gap");
}

TEST(FlowRead, LearnsEveryMtu) {
  for (const u32 mtu : {256u, 512u, 1024u, 2048u, 4096u}) {
    const u32 width = (100'000 + mtu - 1) / mtu;
    const Followed seen = Script().mtu(mtu).read(5, 100'000).send(5 + width).follow();
    EXPECT_EQ(seen.classes(), "first in_order") << mtu;
    EXPECT_EQ(seen.flow().requests.path_mtu, mtu);
  }
}

TEST(FlowRead, KeepsLookingWhenSeveralMtusFit) {
  // 100 bytes are one packet with any MTU; 5000 bytes are two with 4096 alone.
  const Followed seen = Script().mtu(4096).read(5, 100).read(6, 5000).send(8).follow();
  EXPECT_EQ(seen.classes(), "first in_order in_order");
  EXPECT_EQ(seen.flow().requests.path_mtu, 4096);
}

TEST(FlowRead, LostBehindTheTapIsAskedAgainAfterASilence) {
  const Followed seen = Script()
                            .message(0, 3)
                            .ack(2)
                            .read(3, 3000)
                            .wait(70ms)
                            .resend(3)
                            .read_response(3, 5)
                            .send(6)
                            .ack(6)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "3 timeout ambiguous 1") << "nothing tells request from responses";
  EXPECT_EQ(seen.counts().gaps, 0u);
}

TEST(FlowRead, WhoseResponsesWereSeenLostThemBehindTheTap) {
  const Followed seen = Script()
                            .message(0, 3)
                            .ack(2)
                            .read(3, 3000)
                            .read_response(3, 5)
                            .wait(70ms)
                            .resend(3)
                            .read_response(3, 5)
                            .send(6)
                            .ack(6)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "3 timeout response 1");
  EXPECT_EQ(seen.flow(2).responses.counts().retransmissions, 3u);
}

TEST(FlowRead, IsAskedAgainFromTheMiddleWhenAResponseIsMissing) {
  const Followed seen = Script()
                            .message(0, 3)
                            .ack(2)
                            .read(3, 8 * 1024)
                            .read_response(3, 4)
                            .lose_response_before_tap(5)
                            .read_response(6, 10)
                            .read_again(5)
                            .read_response(5, 10)
                            .send(11)
                            .ack(11)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "5 implied_nak response 1");
  const flow::ResponseStream& responses = seen.flow(2).responses;
  EXPECT_EQ(responses.gaps()->gaps, 1u);
  EXPECT_EQ(responses.gaps()->missing_psns, 1u);
  EXPECT_EQ(responses.counts().retransmissions, 6u)
      << "5 .. 10 were sent twice, though 5 was seen once";
  EXPECT_EQ(responses.gaps()->reordered, 0u);
}

// Over IPv6, without identifications, a repeat within microseconds looks like a second capture; but
// the sender had a reason.
TEST(FlowRead, IsNoDuplicateCaptureWhenItsFirstResponseIsMissing) {
  const Followed seen = Script(Ids::ipv6)
                            .message(0, 3)
                            .ack(2)
                            .read(3, 8 * 1024)
                            .lose_response_before_tap(3)
                            .read_response(4, 10)
                            .read_again(3)
                            .read_response(3, 10)
                            .send(11)
                            .ack(11)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "3 implied_nak response 1");
  EXPECT_EQ(seen.counts().duplicate_captures, 0u);
}

TEST(FlowRead, IsAskedAgainFromTheMiddleForWhatWasLostBehindTheTap) {
  const Followed seen = Script()
                            .message(0, 3)
                            .ack(2)
                            .read(3, 8 * 1024)
                            .read_response(3, 10)
                            .read_again(5)
                            .read_response(5, 10)
                            .send(11)
                            .ack(11)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "5 implied_nak response 1");
  EXPECT_EQ(seen.flow(2).responses.counts().retransmissions, 6u);
  EXPECT_EQ(seen.flow(2).responses.gaps(), nullptr);
}

TEST(FlowRead, AskedAgainTwiceIsTwoEpisodes) {
  const Followed seen = Script()
                            .message(0, 3)
                            .ack(2)
                            .read(3, 8 * 1024)
                            .read_response(3, 10)
                            .read_again(5)
                            .read_response(5, 10)
                            .read_again(8)
                            .read_response(8, 10)
                            .send(11)
                            .ack(11)
                            .follow();
  EXPECT_EQ(seen.counts().episodes, 2u);
  EXPECT_EQ(seen.recoveries(), "5 implied_nak response 1; 8 implied_nak response 1");
}

TEST(FlowRead, AskedAgainLostItsResponsesBeforeTheTapTwice) {
  const Followed seen = Script()
                            .message(0, 3)
                            .ack(2)
                            .read(3, 8 * 1024)
                            .read_response(3, 4)
                            .lose_response_before_tap(5)
                            .read_response(6, 10)
                            .read_again(5)
                            .read_response(5)
                            .lose_response_before_tap(6)
                            .read_response(7, 10)
                            .read_again(6)
                            .read_response(6, 10)
                            .send(11)
                            .ack(11)
                            .follow();
  ASSERT_EQ(seen.episodes.size(), 2u);
  EXPECT_EQ(seen.episodes[0].cause, flow::Cause::implied_nak);
  EXPECT_EQ(seen.episodes[0].place, flow::Place::response);
  EXPECT_EQ(seen.episodes[1].place, flow::Place::response);
}

TEST(FlowRead, ResponsesThatComeLateAreReordered) {
  Script script;
  script.message(0, 3).ack(2).read(3, 5 * 1024).read_response(3).read_response(5).read_response(4);
  const Followed seen = script.read_response(6, 7).send(8).ack(8).follow();
  const flow::ResponseStream& responses = seen.flow(2).responses;
  EXPECT_EQ(responses.gaps()->gaps, 1u);
  EXPECT_EQ(responses.gaps()->reordered, 1u);
  EXPECT_EQ(responses.counts().retransmissions, 0u);
}

TEST(FlowRead, TheMirrorCopiesResponses) {
  const Followed seen =
      Script().message(0, 3).read(3, 2048).read_response(3).duplicate().read_response(4).follow();
  const flow::ResponseStream& responses = seen.flow(2).responses;
  EXPECT_EQ(seen.flow(2).rare_state->response_duplicate_captures, 1u);
  EXPECT_EQ(responses.counts().retransmissions, 0u);
  EXPECT_EQ(responses.counts().packets, 2u);
}

TEST(FlowRead, AResponseAnswersTheSendsBeforeIt) {
  // Coalesced into the READ's first response: no ACK of its own for 0 .. 2.
  const Followed seen = Script().message(0, 3).read(3, 2048).read_response(3, 4).send(5).follow();
  EXPECT_EQ(seen.flow().requests.una().value(), 5u);
}

TEST(FlowAtomic, IsReplayedAfterASilence) {
  const Followed seen = Script()
                            .send(1, 4)
                            .ack(4)
                            .atomic(5)
                            .wait(70ms)
                            .resend(5)
                            .atomic_response(5)
                            .atomic(6)
                            .atomic_response(6)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "5 timeout ambiguous 1");
}

TEST(FlowAtomic, WhoseAnswerWasSeenLostItBehindTheTap) {
  const Followed seen = Script()
                            .send(1, 4)
                            .ack(4)
                            .atomic(5)
                            .atomic_response(5)
                            .wait(70ms)
                            .resend(5)
                            .atomic_response(5)
                            .send(6)
                            .ack(6)
                            .follow();
  EXPECT_EQ(seen.recoveries(), "5 timeout response 1");
  EXPECT_EQ(seen.flow(2).responses.counts().retransmissions, 1u);
}

TEST(FlowAtomic, ALostAnswerBetweenOthersIsAGap) {
  const Followed seen = Script()
                            .atomic(5)
                            .atomic(6)
                            .atomic(7)
                            .atomic_response(5)
                            .atomic_response(7)
                            .wait(70ms)
                            .resend(6)
                            .atomic_response(6)
                            .follow();
  const flow::ResponseStream& responses = seen.flow(2).responses;
  EXPECT_EQ(responses.gaps()->gaps, 1u);
  EXPECT_EQ(responses.gaps()->missing_psns, 1u);
  EXPECT_EQ(seen.counts().retransmissions, 1u);
}

TEST(FlowAtomic, SendsBetweenAtomicsAreNoGapsInTheirAnswers) {
  const Followed seen =
      Script().atomic(5).send(6, 8).atomic(9).atomic_response(5).atomic_response(9).follow();
  EXPECT_EQ(seen.flow(2).responses.gaps(), nullptr);
}

}  // namespace
}  // namespace roce::test
