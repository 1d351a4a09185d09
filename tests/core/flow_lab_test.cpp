// SPDX-License-Identifier: BSD-3-Clause
// What went wrong in captures of known stories: two hosts, a tap at each, and loss between the two.
// Each expectation is reasoned from what was done to the traffic and from the hosts' own counters.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/followed_capture.hpp"

namespace roce::test {
namespace {

using flow::Cause;
using flow::Place;
using testing::ElementsAre;
using testing::Pair;

class FlowLab : public testing::Test {
 protected:
  static std::filesystem::path lab() {
    return std::filesystem::path(ROCETRACE_SHARED_DIR) / "captures/lab";
  }
  void SetUp() override {
    if (!exists(lab())) GTEST_SKIP() << "no lab captures at " << lab();
  }
  static Followed see(const std::string& name) {
    return follow(PcapFile(lab() / (name + ".pcap")));
  }
};

/// Packets sent again by each cause, and by each place, over all half-flows.
std::map<std::string, u64> causes(const Followed& seen) {
  std::map<std::string, u64> out;
  for (const flow::SettledEpisode& episode : seen.episodes)
    out[std::string(name(episode.cause))] += episode.packets;
  return out;
}
std::map<std::string, u64> places(const Followed& seen) {
  std::map<std::string, u64> out;
  for (const flow::SettledEpisode& episode : seen.episodes)
    out[std::string(name(episode.place))] += episode.packets;
  return out;
}

/// Sums of all half-flows.
struct Sums {
  u64 retransmissions = 0, gaps = 0, missing = 0, capture_missed = 0, duplicates = 0, reordered = 0;
};
Sums sums(const Followed& seen) {
  Sums out;
  for (u32 id = 1; id <= seen.tracker->flows().size(); id++) {
    const flow::TroubleCounts counts = seen.counts(id);
    out.retransmissions += counts.retransmissions;
    out.gaps += counts.gaps;
    out.missing += counts.missing_psns;
    out.capture_missed += counts.capture_missed_psns;
    out.duplicates += counts.duplicate_captures;
    out.reordered += counts.reordered;
  }
  return out;
}

TEST_F(FlowLab, AReceiverThatIsNotReady) {
  // Receives are posted 400 ms late. The sender's counters: 14 RNR NAKs handled, no sequence NAK,
  // though one follows each RNR NAK, for the same PSN. Nothing was lost: it all arrived.
  for (const char* tap : {"a", "b"}) {
    SCOPED_TRACE(tap);
    const Followed seen = see(std::string("f_rnr_then_ok.") + tap);
    EXPECT_EQ(seen.episodes.size(), 14u);
    EXPECT_THAT(places(seen), ElementsAre(Pair("not_ready", 448)));
    for (const auto& [cause, packets] : causes(seen))
      EXPECT_TRUE(cause == "rnr_nak" || cause == "nak_sequence") << cause;
  }
}

TEST_F(FlowLab, AReceiverThatIsNeverReady) {
  // rnr_retry 3, three SENDs: the fourth RNR NAK ends it, so three packets are sent thrice more.
  for (const char* tap : {"a", "b"}) {
    SCOPED_TRACE(tap);
    const Followed seen = see(std::string("f_rnr_exceeded.") + tap);
    EXPECT_EQ(seen.episodes.size(), 3u);
    EXPECT_THAT(places(seen), ElementsAre(Pair("not_ready", 9)));
  }
}

TEST_F(FlowLab, APathThatSwallowsEverything) {
  // 15 packets, and the sender's counters: 4 retries. No answer ever, so the tap cannot know where
  // they are lost; but that silences of 67 ms (4.096 us * 2^14) are timeouts.
  const Followed seen = see("f_blackhole.a");
  EXPECT_THAT(causes(seen), ElementsAre(Pair("timeout", 60)));
  EXPECT_THAT(places(seen), ElementsAre(Pair("ambiguous", 60)));
  for (const flow::SettledEpisode& episode : seen.episodes) {
    EXPECT_EQ(episode.packets, 15u);
    EXPECT_NEAR(static_cast<double>(episode.silence), 67.1e6, 5e6);
  }
}

TEST_F(FlowLab, ATimerThatIsTooShort) {
  // The timeout is below the queueing delay: nothing is lost, all 84 packets sent again had come,
  // and the receiver's counters call them duplicates.
  for (const char* tap : {"a", "b"}) {
    SCOPED_TRACE(tap);
    const Followed seen = see(std::string("a30_spurious_timeout_send.") + tap);
    EXPECT_EQ(seen.episodes.size(), 2u);
    EXPECT_THAT(causes(seen), ElementsAre(Pair("timeout", 84)));
    for (const auto& [place, packets] : places(seen))
      EXPECT_TRUE(place == "response" || place == "spurious") << place;
    EXPECT_EQ(sums(seen).gaps, 0u);
  }
}

TEST_F(FlowLab, LostAcknowledgements) {
  // Only answers are lost. Both timeouts send five packets again that had arrived.
  for (const char* tap : {"a", "b"}) {
    SCOPED_TRACE(tap);
    const Followed seen = see(std::string("b_send_loss_b2a5.") + tap);
    EXPECT_EQ(seen.episodes.size(), 2u);
    EXPECT_THAT(causes(seen), ElementsAre(Pair("timeout", 10)));
    EXPECT_THAT(places(seen), ElementsAre(Pair("response", 10)));
  }
}

TEST_F(FlowLab, LossSeenFromTheSender) {
  // 34 NAKs ask for what passed this tap, so it was lost behind it. Two timeouts resend the tail.
  const Followed seen = see("b_send_loss_a2b5.a");
  EXPECT_EQ(seen.episodes.size(), 36u);
  EXPECT_THAT(places(seen), ElementsAre(Pair("ambiguous", 83), Pair("downstream", 1383)));
  EXPECT_EQ(sums(seen).gaps, 0u);
}

TEST_F(FlowLab, LossSeenFromTheReceiver) {
  // The same: what the responder asks for never came to this tap, and nothing is lost behind it.
  const Followed seen = see("b_send_loss_a2b5.b");
  EXPECT_EQ(seen.episodes.size(), 36u);
  EXPECT_EQ(sums(seen).retransmissions, 1404u);
  EXPECT_GT(places(seen)["upstream"], 1300u);
  EXPECT_EQ(places(seen)["response"] + places(seen)["spurious"], 0u);
}

TEST_F(FlowLab, ABurstOfLosses) {
  // 12 packets lost in bursts, three NAKs, 135 packets sent again for them.
  EXPECT_THAT(places(see("b_write_burstloss.a")), ElementsAre(Pair("downstream", 135)));
  const Followed seen = see("b_write_burstloss.b");
  EXPECT_THAT(causes(seen), ElementsAre(Pair("nak_sequence", 135)));
  EXPECT_THAT(places(seen), ElementsAre(Pair("upstream", 135)));
  EXPECT_EQ(sums(seen).missing, 12u);
}

TEST_F(FlowLab, DamagedOnTheWay) {
  // Bit errors between the taps: the receiver drops them, so to its tap they were lost before it.
  EXPECT_EQ(places(see("c_send_corrupt.a"))["downstream"], 635u);
  EXPECT_EQ(places(see("c_send_corrupt.b"))["upstream"], 635u);
}

TEST_F(FlowLab, LostReadResponses) {
  // Every request arrived. The requester sees the gaps, or times out when the last ones are lost.
  for (const char* tap : {"a", "b"}) {
    SCOPED_TRACE(tap);
    const Followed seen = see(std::string("b_read_loss_b2a5.") + tap);
    EXPECT_EQ(seen.episodes.size(), 35u) << "the requester's counters: 35 retries";
    EXPECT_EQ(sums(seen).retransmissions, 293u) << "the responder's: 293 duplicate requests";
    for (const auto& [cause, packets] : causes(seen))
      EXPECT_TRUE(cause == "implied_nak" || cause == "timeout") << cause;
    EXPECT_EQ(places(seen)["upstream"] + places(seen)["downstream"], 0u);
    EXPECT_GT(places(seen)["response"], 240u);
  }
}

TEST_F(FlowLab, APeerThatIsGone) {
  // The server destroys its QP: four timeouts of the last eight packets, and no answer to any.
  const Followed seen = see("f_peer_exit.a");
  EXPECT_THAT(causes(seen), ElementsAre(Pair("timeout", 32)));
  EXPECT_EQ(seen.episodes.size(), 4u);
}

TEST_F(FlowLab, ACaptureThatMissedPackets) {
  // 1000 packets were sent, received and acknowledged; the capture programs missed 110 and 49.
  for (const auto& [tap, missed] : {std::pair("a", 110u), std::pair("b", 49u)}) {
    SCOPED_TRACE(tap);
    const Followed seen = see(std::string("q_capture_drops.") + tap);
    EXPECT_EQ(sums(seen).capture_missed, missed);
    EXPECT_EQ(sums(seen).retransmissions, 0u);
    EXPECT_TRUE(seen.episodes.empty());
  }
}

TEST_F(FlowLab, PacketsThatTheNetworkDoubled) {
  // 600 sent, 619 received, each of the 19 with the IP identification of the one before: to a tap
  // they are what a mirror would show that sees packets twice.
  const Followed seen = see("c_send_dup.b");
  EXPECT_EQ(sums(seen).duplicates, 19u);
  EXPECT_EQ(sums(seen).retransmissions, 0u);
  EXPECT_EQ(sums(see("c_send_dup.a")).duplicates, 0u);
}

TEST_F(FlowLab, UnreliableSendsAreNotSentAgain) {
  const Followed seen = see("e_uc_send_loss3.b");  // 14 of 500 lost
  EXPECT_EQ(sums(seen).missing, 14u);
  EXPECT_TRUE(seen.episodes.empty());
}

TEST_F(FlowLab, AtTheSendersTapNothingIsLostBeforeIt) {
  std::size_t episodes = 0;
  for (const auto& file : files_in(lab(), ".a.pcap")) {
    SCOPED_TRACE(file.filename());
    const Followed seen = follow(PcapFile(file));
    episodes += seen.episodes.size();
    EXPECT_EQ(places(seen)["upstream"], 0u);
    const bool missed = file.filename().string().starts_with("q_capture_drops");
    EXPECT_EQ(sums(seen).gaps > 0, missed);
  }
  EXPECT_GT(episodes, 200u);
}

}  // namespace
}  // namespace roce::test
