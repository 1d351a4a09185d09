// SPDX-License-Identifier: BSD-3-Clause
// Captures of the lab whose story is known, against what is found in them. Skipped, out loud, where
// there are none.

#include <nlohmann/json.hpp>

#include "fixture.hpp"

namespace rocetrace::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAreArray;

const std::string kLab = ROCETRACE_SHARED_DIR "/captures/lab/";

// Whether what was captured there was lost, came again or in another order, by what both taps saw.
bool is_clean(const json& expected) {
  for (const auto& flow : expected["truth"].value("half_flows", json::object()))
    if (flow["lost"] != 0 || flow["extra_at_receiver"] != 0 || flow["retransmissions_sent"] != 0)
      return false;
  for (const auto& wire : expected["wire"])
    if (wire.value("reordered_inversions", 0) != 0) return false;
  // Failures, and what the capture itself lost.
  const char scenario = expected["scenario"].get<std::string>()[0];
  return scenario != 'f' && scenario != 'q';
}

// What the lab set up on purpose, by the file that shows it: these findings are right.
struct SetUp {
  std::string_view file;
  std::vector<std::string> ids;
  std::string_view because;
};
const std::vector<SetUp> kSetUp = {
    {"g_cm_reject.a.pcap", {"cm.rejected"}, "the client asks for a port where nobody listens"},
    {"g_cm_reject.b.pcap", {"cm.rejected"}, "likewise, seen at the server"},
    {"h_cnp_1qp_iv2ms.b.pcap",
     {"ecn.marked", "cnp.delay"},
     "the queue marks a tenth, and a program answers the marks once it gets to read them"},
    {"h_cnp_4qp_iv5ms.b.pcap", {"ecn.marked", "cnp.delay"}, "likewise, with four queue pairs"},
    {"h_ect0_netem_ce5.b.pcap", {"cnp.missing"}, "5 % are marked, and soft RoCE sends no CNPs"},
    {"h_ect0_netem_ce5.b128.pcap", {"cnp.missing"}, "the same packets, cut"},
    {"h_red_ecn_4qp.b.pcap",
     {"ecn.marked", "cnp.missing"},
     "the queue marks nearly all, and soft RoCE sends no CNPs"},
};

std::vector<std::string> set_up_in(const std::string& file) {
  const auto row = std::ranges::find(kSetUp, file, &SetUp::file);
  return row != kSetUp.end() ? row->ids : std::vector<std::string>{};
}

TEST(Lab, CleanCapturesHaveNothingLoud) {
  const auto files = roce::test::files_in(kLab, ".expect.json");
  if (files.empty()) GTEST_SKIP() << "no captures in " << kLab;
  int count = 0;
  std::size_t excused = 0;
  for (const auto& file : files) {
    const json expected = roce::test::read_json(file);
    if (!is_clean(expected)) continue;
    for (const auto& [name, counts] : expected["files"].items()) {
      const std::string path = kLab + name;
      if (!std::filesystem::exists(path)) continue;
      count++;
      EXPECT_THAT(loud(analyzed(path)), UnorderedElementsAreArray(set_up_in(name))) << path;
      excused += set_up_in(name).empty() ? 0u : 1u;
    }
  }
  EXPECT_GE(count, 40);
  EXPECT_EQ(excused, kSetUp.size()) << "an exception whose file is not clean, or is gone";
}

// The finding of that kind, or a skipped test.
class Story : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kLab)) GTEST_SKIP() << "no captures in " << kLab;
  }
};

TEST_F(Story, BlackHoleExhaustsTheRetries) {
  const Report report = lab("f_blackhole.a.pcap");
  EXPECT_EQ(report.findings.at(0).id, "retry.exhausted");
  EXPECT_EQ(evidence(report, "retry.exhausted", "resends"), "4");
  EXPECT_EQ(evidence(report, "retry.exhausted", "completion"), "IBV_WC_RETRY_EXC_ERR");
  EXPECT_EQ(severity(report, "path.one_way"), "error");
  EXPECT_FALSE(has(report, "path.responses_stopped"));
}

TEST_F(Story, PeerThatExitsStopsAnswering) {
  for (const char* tap : {"f_peer_exit.a.pcap", "f_peer_exit.b.pcap"}) {
    const Report report = lab(tap);
    EXPECT_EQ(report.findings.at(0).id, "path.responses_stopped") << tap;
    EXPECT_FALSE(has(report, "path.one_way")) << tap;
  }
}

TEST_F(Story, RejectionHasItsReasonInWords) {
  const Report report = lab("g_cm_reject.a.pcap");
  EXPECT_THAT(text(report, "cm.rejected"),
              HasSubstr("reason 8: invalid service ID: nobody listens"));
  EXPECT_THAT(loud(report), ElementsAre("cm.rejected"));
}

TEST_F(Story, BadKeyIsNamedWithItsAddress) {
  for (const char* tap : {"f_bad_rkey_write.a.pcap", "f_bad_rkey_write.b.pcap"}) {
    const Report report = lab(tap);
    EXPECT_THAT(loud(report), ElementsAre("nak.remote_access")) << tap;
    EXPECT_EQ(evidence(report, "nak.remote_access", "rkey"), "19160") << tap;
    EXPECT_EQ(evidence(report, "nak.remote_access", "va"), "93920830517248") << tap;
  }
}

TEST_F(Story, ReceiverWithoutBuffersExhaustsTheRnrRetries) {
  const Report report = lab("f_rnr_exceeded.a.pcap");
  EXPECT_EQ(report.findings.at(0).id, "retry.exhausted");
  EXPECT_EQ(evidence(report, "retry.exhausted", "rnr"), "true");
  EXPECT_EQ(evidence(report, "retry.exhausted", "completion"), "IBV_WC_RNR_RETRY_EXC_ERR");
  EXPECT_EQ(severity(report, "rnr.storm"), "warning");
}

// It drops what follows a refused packet, and says so by sequence NAKs.
TEST_F(Story, ReceiverThatIsNotReadyLosesNothing) {
  for (const char* tap : {"f_rnr_then_ok.a.pcap", "f_rnr_then_ok.b.pcap"}) {
    const Report report = lab(tap);
    EXPECT_THAT(loud(report), ElementsAre("rnr.storm")) << tap;
    EXPECT_FALSE(has(report, "nak.sequence")) << tap << text(report, "nak.sequence");
    EXPECT_FALSE(has(report, "conformance")) << tap << text(report, "conformance");
    EXPECT_FALSE(has(report, "loss.retransmission")) << tap << text(report, "loss.retransmission");
    EXPECT_GT(report.totals.retransmissions, 400) << tap;
  }
}

TEST_F(Story, MarksOfAReceiverThatSendsNoCnps) {
  const Report report = lab("h_red_ecn_4qp.b.pcap");
  EXPECT_EQ(severity(report, "cnp.missing"), "warning");
  EXPECT_FALSE(has(lab("h_red_ecn_4qp.a.pcap"), "cnp.missing"));  // in front of the marking queue
}

TEST_F(Story, WhatTheCaptureLostTheNetworkDidNot) {
  for (const char* tap : {"q_capture_drops.a.pcap", "q_capture_drops.b.pcap"}) {
    const Report report = lab(tap);
    EXPECT_THAT(loud(report), ElementsAre("capture.loss")) << tap;
    EXPECT_FALSE(has(report, "loss.retransmission")) << tap;
    EXPECT_FALSE(has(report, "loss.unrecovered")) << tap;
    EXPECT_EQ(report.captures.at(0).trust, Trust::low) << tap;
  }
}

TEST_F(Story, DamageShowsBehindItOnly) {
  EXPECT_EQ(severity(lab("c_send_corrupt.b.pcap"), "icrc.bad"), "warning");
  EXPECT_FALSE(has(lab("c_send_corrupt.a.pcap"), "icrc.bad"));
}

// What the network lost was asked for again, however the trace ends.
TEST_F(Story, LossIsNoLossOfTheCapture) {
  for (const auto& file : roce::test::files_in(kLab, ".pcap")) {
    const std::string name = file.filename().string();
    if (std::string_view("bcd").find(name[0]) == std::string_view::npos) continue;
    EXPECT_FALSE(has(analyzed(file.string()), "capture.loss")) << name;
  }
}

}  // namespace
}  // namespace rocetrace::test
