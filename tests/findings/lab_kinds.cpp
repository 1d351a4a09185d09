// SPDX-License-Identifier: BSD-3-Clause
// For each kind of finding that the lab's captures show: one that has it, and a close relative of
// the lab's that must not. Skipped, out loud, where there are none.

#include <set>

#include "fixture.hpp"

namespace rocetrace::test {
namespace {

struct Kind {
  std::string_view id;
  std::string_view has, has_not;  // names of captures, without .pcap
};

constexpr Kind kKinds[] = {
    {"ack.stall", "a01_rc_send_s1025_m1024.a", "a01_rc_send_s1025_m1024.b"},
    {"capture.duplicates", "c_send_dup.b", "c_send_reorder.b"},
    {"capture.loss", "q_capture_drops.a", "b_send_loss_a2b5.a"},
    {"cm.rejected", "g_cm_reject.a", "g_ucmatose.a"},
    {"cnp.delay", "h_cnp_4qp_iv5ms.b", "h_red_ecn_4qp.b"},
    {"cnp.interval", "h_cnp_1qp_iv2ms.a", "h_red_ecn_4qp.b"},
    {"cnp.missing", "h_red_ecn_4qp.b", "h_cnp_4qp_iv5ms.b"},
    {"cnp.per_ce", "h_cnp_1qp_iv2ms.b", "h_cnp_1qp_iv2ms.a"},
    {"cnp.without_ce", "h_cnp_1qp_iv2ms.a", "h_cnp_1qp_iv2ms.b"},
    {"conformance", "d_atomic_fadd_loss5.a", "d_atomic_fadd.a"},
    {"dscp.unmarked", "a01_rc_send_s1025_m1024.a", "h_red_ecn_4qp.a"},
    {"ecn.marked", "h_red_ecn_4qp.b", "h_red_ecn_4qp.a"},
    {"icrc.bad", "c_send_corrupt.b", "c_send_corrupt.a"},
    {"loss.reordering", "c_send_reorder.b", "c_send_reorder.a"},
    {"loss.retransmission", "b_send_loss_a2b5.a", "q_capture_drops.a"},
    {"nak.invalid_request", "f_noaccess_qp_write.a", "f_bad_rkey_write.a"},
    {"nak.remote_access", "f_bad_rkey_write.a", "f_noaccess_qp_write.a"},
    {"nak.sequence", "b_send_loss_a2b5.a", "f_rnr_then_ok.a"},
    {"nak.slow_generation", "b_send_loss_a2b5.a", "f_rnr_then_ok.a"},
    {"nak.slow_reaction", "b_send_loss_a2b5.a", "f_rnr_then_ok.a"},
    {"path.one_way", "f_blackhole.a", "f_peer_exit.a"},
    {"path.responses_stopped", "f_peer_exit.a", "f_blackhole.a"},
    {"retransmission.spurious", "a30_spurious_timeout_send.b", "a30_spurious_timeout_send.a"},
    {"retry.exhausted", "f_blackhole.a", "f_rnr_then_ok.a"},
    {"rnr.storm", "f_rnr_exceeded.a", "f_peer_exit.a"},
    {"slowest_qp", "g_ucmatose.a", "a01_rc_send_s1025_m1024.a"},
    {"stall", "a02_rc_send_s4099_m256.a", "a02_rc_send_s4099_m256.b"},
    {"stop_and_wait", "a01_rc_send_s1025_m1024.b", "a01_rc_send_s1025_m1024.a"},
    {"timeout.series", "f_peer_exit.a", "f_rnr_exceeded.a"},
    {"uc.message_lost", "e_uc_send_loss3.b", "e_uc_send_loss3.a"},
};

TEST(LabKinds, AreFoundWhereTheyAreAndNotNextToIt) {
  const std::string lab_dir = ROCETRACE_SHARED_DIR "/captures/lab/";
  if (!std::filesystem::exists(lab_dir)) GTEST_SKIP() << "no captures in " << lab_dir;
  for (const Kind& kind : kKinds) {
    EXPECT_TRUE(has(lab(fmt::format("{}.pcap", kind.has)), kind.id)) << kind.id;
    const Report other = lab(fmt::format("{}.pcap", kind.has_not));
    EXPECT_FALSE(has(other, kind.id)) << kind.id << ": " << text(other, kind.id);
  }
}

TEST(LabKinds, AreAllThatTheLabShows) {
  const auto files = roce::test::files_in(ROCETRACE_SHARED_DIR "/captures/lab/", ".pcap");
  if (files.empty()) GTEST_SKIP() << "no captures of the lab";
  std::set<std::string> shown;
  for (const auto& file : files) {
    const std::string name = file.filename().string();
    if (!name.ends_with(".a.pcap") && !name.ends_with(".b.pcap")) continue;
    for (const FindingRow& row : analyzed(file.string()).findings) shown.insert(row.id);
  }
  for (const std::string& id : shown)
    EXPECT_EQ(std::ranges::count(kKinds, id, &Kind::id), 1) << id << " is in no row";
}

}  // namespace
}  // namespace rocetrace::test
