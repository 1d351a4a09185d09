// SPDX-License-Identifier: BSD-3-Clause
// Dumps of NIC counters: how they are read, and how the trace is held against them.

#include <nlohmann/json.hpp>

#include "findings/counter_dump.hpp"
#include "pairs.hpp"

namespace rocetrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(CounterDump, ReadsWhatRdmaStatisticShowPrints) {
  const CounterDump dump = parse_counters(
      "link mlx5_0/1 rx_write_requests 7 rx_read_requests 0 out_of_sequence 12\n"
      "link mlx5_1/1 rx_write_requests 9 \n    duplicate_request 4\n");
  ASSERT_EQ(dump.size(), 2u);
  EXPECT_THAT(dump.at("mlx5_0/1"), ElementsAre(testing::Pair("out_of_sequence", 12u),
                                               testing::Pair("rx_read_requests", 0u),
                                               testing::Pair("rx_write_requests", 7u)));
  EXPECT_THAT(dump.at("mlx5_1/1"), ElementsAre(testing::Pair("duplicate_request", 4u),
                                               testing::Pair("rx_write_requests", 9u)));
}

TEST(CounterDump, ReadsItsJson) {
  const CounterDump dump = parse_counters(
      R"( [{"ifname":"mlx5_0","port":1,"rx_write_requests":18446744073709551615,"x":-1},)"
      R"({"port":2,"out_of_sequence":3,"ifname":"mlx5_0","more":{"np_cnp_sent":8},"t":1.5}])");
  ASSERT_EQ(dump.size(), 2u);
  EXPECT_THAT(dump.at("mlx5_0/1"), ElementsAre(testing::Pair("rx_write_requests", ~u64{0})));
  EXPECT_THAT(dump.at("mlx5_0/2"),
              ElementsAre(testing::Pair("np_cnp_sent", 8u), testing::Pair("out_of_sequence", 3u)));
}

TEST(CounterDump, ReadsEthtoolAndFilesOfTheSystem) {
  EXPECT_THAT(
      parse_counters("NIC statistics:\r\n     rx_prio3_pause: 5\r\n     [0]: rx_bytes: 9\r\n")
          .at(""),
      ElementsAre(testing::Pair("rx_bytes", 9u), testing::Pair("rx_prio3_pause", 5u)));
  const CounterDump files = parse_counters(
      "/sys/class/infiniband/mlx5_2/ports/1/hw_counters/out_of_sequence:31\n"
      "/sys/class/infiniband/mlx5_2/ports/1/hw_counters/packet_seq_err 2\n"
      "hw_counters/np_cnp_sent:6\nrp_cnp_handled=4\n");
  EXPECT_THAT(files.at("mlx5_2/1"), ElementsAre(testing::Pair("out_of_sequence", 31u),
                                                testing::Pair("packet_seq_err", 2u)));
  EXPECT_THAT(files.at(""),
              ElementsAre(testing::Pair("np_cnp_sent", 6u), testing::Pair("rp_cnp_handled", 4u)));
}

TEST(CounterDump, RefusesWhatHoldsNone) {
  std::string much;
  for (int i = 0; i < 70'000; i++) much += fmt::format("counter_{} 1\n", i);
  for (const std::string& wrong :
       {std::string(), std::string("\n\n"), std::string("no numbers here"), std::string("[]"),
        std::string("[{\"ifname\":\"a\""), std::string(1'000'000, '['),
        std::string(100, '[') + std::string(100, ']'), std::string("{\"a\":{}}"),
        std::string("out_of_sequence -3\nx 18446744073709551616\n"),
        std::string("\x1b[2Jout 5\n<script>alert(1)</script> 7\n"), much})
    EXPECT_THROW(parse_counters(wrong), std::runtime_error) << wrong.substr(0, 40);
  EXPECT_THROW(read_counters("/nowhere/at/all"), std::runtime_error);
  EXPECT_THROW(read_counters("/dev/zero"), std::runtime_error);
}

TEST(CounterDump, GrowthIsThatOfNamesInBoth) {
  const auto all =
      counted_between({{"a/1", {{"x", 5}, {"y", 9}, {"old", 1}}}, {"gone", {{"x", 1}}}},
                      {{"a/1", {{"x", 7}, {"y", 3}, {"new", 1}}}, {"b/1", {{"x", 1}}}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].device, "a/1");
  EXPECT_THAT(all[0].counts, ElementsAre(testing::Pair("x", 2u)));
  EXPECT_THAT(all[0].backward, ElementsAre("y"));
  EXPECT_THROW(counted_between({{"a", {{"x", 1}}}}, {{"b", {{"x", 1}}}}), std::runtime_error);
}

// --- held against a trace

/// Two dumps whose difference is `growth`.
class Dumps {
 public:
  explicit Dumps(const std::string& growth, const std::string& first = {}) {
    const CounterDump after = parse_counters(growth);
    std::ofstream before_file(before_.path()), after_file(after_.path());
    for (const auto& [device, counters] : after) {
      if (!device.empty())
        before_file << "link " << device << '\n', after_file << "link " << device << '\n';
      for (const auto& [name, value] : counters) {
        before_file << name << " 1000\n";
        after_file << name << ' ' << value + 1000 << '\n';
      }
    }
    before_file << first;
  }
  Options options(std::vector<std::string> hosts = {}) const {
    Options options;
    options.counters_before = before_.path();
    options.counters_after = after_.path();
    options.counter_hosts = std::move(hosts);
    return options;
  }

 private:
  CaptureFile before_, after_;
};

constexpr char kId[] = "counters.disagree";

// 20 SENDs from 10.0.0.1, of which the tap does not see PSN 5 the first time: 10.0.0.2 misses it.
Report one_loss(const Dumps& dumps, std::vector<std::string> hosts = {}) {
  Frames frames;
  const Ends ends;
  for (u32 psn = 0; psn < 5; psn++) {
    frames.add(ends.send(psn), psn * 50us);
    frames.add(ends.ack(psn), psn * 50us + 10us);
  }
  frames.add(ends.send(6), 300us);
  frames.add(ends.nak(5), 310us);
  for (u32 psn = 5; psn < 20; psn++) {
    frames.add(ends.send(psn), 350us + psn * 50us);
    frames.add(ends.ack(psn), 350us + psn * 50us + 10us);
  }
  return analyzed(frames, dumps.options(std::move(hosts)));
}

TEST(Counters, ThatAgreeAreNoFinding) {
  const Report report = one_loss(Dumps("link mlx5_0/1 out_of_sequence 1 duplicate_request 0"));
  EXPECT_FALSE(has(report, kId));
  EXPECT_FALSE(unjudged(report, kId));
}

TEST(Counters, OfMoreLossThanTheTraceShows) {
  const Report report = one_loss(
      Dumps("link mlx5_0/1 out_of_sequence 40 rx_write_requests 0 sent_pkts 21"), {"10.0.0.2"});
  EXPECT_EQ(severity(report, kId), "warning");
  EXPECT_EQ(evidence(report, kId, "host"), "10.0.0.2");
  EXPECT_EQ(evidence(report, kId, "device"), "mlx5_0/1");
  EXPECT_EQ(evidence(report, kId, "out_of_sequence_nic"), "40");
  EXPECT_EQ(evidence(report, kId, "out_of_sequence_trace"), "1");
  EXPECT_THAT(text(report, kId),
              HasSubstr("out_of_sequence 40 (trace: 1); 1 of 3 counters differ"));
  EXPECT_THAT(text(report, kId), HasSubstr("All of its packets are in the trace"));
}

TEST(Counters, OfPacketsThatTheTraceLacksExplainTheRest) {
  const Report report =
      one_loss(Dumps("sent_pkts 500\nout_of_sequence 40\nnp_cnp_sent 0\n"), {"10.0.0.2"});
  EXPECT_EQ(severity(report, kId), "info");
  EXPECT_THAT(text(report, kId), HasSubstr("The trace does not hold all of its packets"));
}

TEST(Counters, OfLessThanTheTraceShowsAreLoud) {
  const Report report = one_loss(Dumps("sent_pkts 21\nout_of_sequence 0\n"), {"10.0.0.2"});
  EXPECT_EQ(severity(report, kId), "warning");
  EXPECT_EQ(evidence(report, kId, "out_of_sequence_nic"), "0");
}

TEST(Counters, WithinTheShareAgree) {
  const Dumps dumps("sent_pkts 22\nout_of_sequence 1\n");
  EXPECT_TRUE(has(one_loss(dumps, {"10.0.0.2"}), kId));
  Options options = dumps.options({"10.0.0.2"});
  options.settings = {"counters.disagree.share=10%"};
  Frames frames;
  for (u32 psn = 0; psn < 20; psn++) {
    frames.add(Ends{}.send(psn), psn * 50us);
    frames.add(Ends{}.ack(psn), psn * 50us + 10us);
  }
  const Dumps fewer("rcvd_pkts 21\n");
  Options wide = fewer.options({"10.0.0.2"});
  wide.settings = options.settings;
  EXPECT_FALSE(has(analyzed(frames, wide), kId));
  EXPECT_TRUE(has(analyzed(frames, fewer.options({"10.0.0.2"})), kId));
}

TEST(Counters, AreOfNobodyWhenTheCountsDoNotTell) {
  EXPECT_TRUE(unjudged(one_loss(Dumps("rp_cnp_handled 0\n")), kId));      // fits both
  EXPECT_TRUE(unjudged(one_loss(Dumps("out_of_sequence 9000\n")), kId));  // fits none
  EXPECT_TRUE(unjudged(one_loss(Dumps("rx_bytes 12\n")), kId));           // compares with nothing
  EXPECT_TRUE(unjudged(one_loss(Dumps("sent_pkts 21\n"), {"10.0.0.9"}), kId));
  EXPECT_FALSE(has(one_loss(Dumps("out_of_sequence 9000\n")), kId));
}

TEST(Counters, ThatFellAreNotJudged) {
  const Report report =
      one_loss(Dumps("sent_pkts 21\nout_of_sequence 1\n", "out_of_sequence 5000\n"));
  EXPECT_TRUE(unjudged(report, kId));
  EXPECT_FALSE(has(report, kId));
}

TEST(Counters, OfIdleDevicesAreLeftOut) {
  const Report report = one_loss(
      Dumps("link mlx5_0/1 out_of_sequence 1\nlink mlx5_1/1 out_of_sequence 0 sent_pkts 0\n"));
  EXPECT_FALSE(has(report, kId));
  EXPECT_FALSE(unjudged(report, kId));
}

TEST(Counters, AreNotHeldAgainstASelection) {
  const Dumps dumps("sent_pkts 21\nout_of_sequence 9\n");
  Options options = dumps.options({"10.0.0.2"});
  options.qps = {0x22};
  const Report report = sample("loss_32_qps.pcap", options);
  EXPECT_FALSE(has(report, kId));
  EXPECT_TRUE(unjudged(report, kId));
}

// The kernel's own counts of the hosts that the lab's captures were taken on.
std::string kernel_counts(const std::string& scenario, const char* host) {
  const auto expected = roce::test::read_json(std::string(ROCETRACE_SHARED_DIR "/captures/lab/") +
                                              scenario + ".expect.json");
  std::map<std::string, u64> counts{
      {"out_of_seq_request", 0}, {"duplicate_request", 0}, {"rcvd_rnr_err", 0}};
  for (const auto& [name, value] : expected["counters"][host].items()) counts[name] = value;
  std::string text = "link rxe0/1";
  for (const auto& [name, value] : counts) text += fmt::format(" {} {}", name, value);
  return text;
}

class KernelCounters : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(ROCETRACE_SHARED_DIR "/captures/lab/")) GTEST_SKIP() << "no lab";
  }
  static Report judged(const std::string& scenario, const char* host, bool named = true) {
    const Dumps dumps(kernel_counts(scenario, host));
    std::vector<std::string> hosts;
    if (named) hosts = {*host == 'a' ? "10.0.0.1" : "10.0.0.2"};
    return lab(scenario + "." + host + ".pcap", dumps.options(hosts));
  }
};

TEST_F(KernelCounters, AgreeWhereNothingHidWhatHappened) {
  for (const char* scenario : {"a01_rc_send_s1025_m1024", "b_send_loss_a2b5", "b_send_loss_b2a5",
                               "b_read_loss_a2b5", "f_rnr_then_ok"})
    for (const char* host : {"a", "b"}) {
      const Report report = judged(scenario, host);
      EXPECT_FALSE(has(report, kId)) << scenario << '.' << host << ": " << text(report, kId);
      EXPECT_FALSE(unjudged(report, kId)) << scenario << '.' << host;
    }
}

TEST_F(KernelCounters, TellTheirHostByThemselves) {
  const Report report = judged("b_send_loss_b2a5", "b", false);
  EXPECT_FALSE(has(report, kId)) << text(report, kId);
  EXPECT_FALSE(unjudged(report, kId));
}

TEST_F(KernelCounters, ShowThatTheCaptureLostPackets) {
  const Report report = judged("q_capture_drops", "a");
  EXPECT_EQ(severity(report, kId), "info");
  EXPECT_EQ(evidence(report, kId, "sent_packets_nic"), "1000");
  EXPECT_EQ(evidence(report, kId, "received_packets_nic"), "200");
  EXPECT_THAT(text(report, kId), HasSubstr("The trace does not hold all of its packets"));
}

// Damaged packets pass the tap, and the NIC drops them before it counts.
TEST_F(KernelCounters, ShowThatPacketsWereDroppedBehindTheTap) {
  const Report report = judged("c_send_corrupt", "b");
  EXPECT_EQ(severity(report, kId), "warning");
  EXPECT_EQ(evidence(report, kId, "received_packets_nic"), "1359");
  EXPECT_EQ(evidence(report, kId, "received_packets_trace"), "1388");  // one has a damaged address
}

}  // namespace

Pairs counter_pairs() {
  return {
      {.id = kId,
       .has = [] { return one_loss(Dumps("out_of_sequence 40\nsent_pkts 21\n"), {"10.0.0.2"}); },
       .has_not = [] { return one_loss(Dumps("out_of_sequence 1\nsent_pkts 21\n"), {"10.0.0.2"}); },
       .severity = "warning",
       .scope = "host 10.0.0.2",
       .count = 1,
       .evidence = {{"compared", "2"}},
       .others = {"loss.retransmission", "nak.slow_reaction"},
       .others_without = {"loss.retransmission", "nak.slow_reaction"}}};
}

}  // namespace rocetrace::test
