// SPDX-License-Identifier: BSD-3-Clause
// What all findings have in common: thresholds, grouping, order, and their documentation.

#include <set>

#include "findings/catalog.hpp"
#include "findings/thresholds.hpp"
#include "findings_fixture.hpp"
#include "report/explain.hpp"

namespace rocetrace::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Thresholds, TakeValuesInTheirUnits) {
  Thresholds limits;
  limits.set("loss.retransmission.warning=0.25%");
  limits.set("loss.retransmission.error = 0.5");
  limits.set("nak.slow.warning=2.5ms");
  limits.set("rnr.storm.rate=7/s");
  limits.set("entropy.flows=9");
  EXPECT_DOUBLE_EQ(limits["loss.retransmission.warning"], 0.0025);
  EXPECT_DOUBLE_EQ(limits["loss.retransmission.error"], 0.5);
  EXPECT_DOUBLE_EQ(limits["nak.slow.warning"], 2.5e6);
  EXPECT_DOUBLE_EQ(limits["rnr.storm.rate"], 7);
  EXPECT_DOUBLE_EQ(limits["entropy.flows"], 9);
}

TEST(Thresholds, RefuseWhatIsNone) {
  Thresholds limits;
  for (const char* wrong : {"loss.retransmission.warning", "loss.nothing=1", "nak.slow.warning=2.5",
                            "nak.slow.warning=2 parsecs", "entropy.flows=9%", "entropy.flows=-1",
                            "entropy.flows=", "entropy.flows=nan", "=5", ""})
    EXPECT_THROW(limits.set(wrong), std::runtime_error) << wrong;
}

TEST(Thresholds, FileNamesItsLine) {
  const CaptureFile file;
  std::ofstream(file.path()) << "# ours\n\nentropy.flows=9  # more\nentropy.flows=many\n";
  Thresholds limits;
  try {
    limits.read(file.path());
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(file.path()), HasSubstr("line 4")));
  }
  EXPECT_DOUBLE_EQ(limits["entropy.flows"], 9);
  EXPECT_THROW(limits.read("/nowhere/at/all"), std::runtime_error);
}

TEST(Thresholds, HaveOneRowEach) {
  std::set<std::string_view> keys;
  for (const Threshold& row : thresholds()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key;
    EXPECT_FALSE(row.what.empty()) << row.key;
  }
}

TEST(Catalog, EveryKindIsExplainedAndJudgedOnce) {
  std::set<std::string_view> ids;
  for (const CatalogEntry* entry : catalog()) {
    EXPECT_NE(entry->judge != nullptr, entry->make != nullptr);
    for (const FindingKind& kind : entry->kinds) {
      EXPECT_TRUE(ids.insert(kind.id).second) << kind.id;
      for (const std::string_view text : {kind.title, kind.means, kind.judged, kind.next})
        EXPECT_FALSE(text.empty()) << kind.id;
      EXPECT_TRUE(kind.means.ends_with('.')) << kind.id;
      EXPECT_TRUE(kind.next.ends_with('.') || kind.next.ends_with('?')) << kind.id;
    }
  }
  for (const std::string_view id : ids)
    EXPECT_EQ(std::ranges::count(explanations(), id, &Explanation::id), 1) << id;
}

// A queue pair that loses one packet in four.
Script& lossy(Script& script, u32 qp) {
  script.between(qp, qp + 1000);
  for (u32 psn = 0; psn < 40; psn += 4)
    script.send(psn, psn + 1)
        .lose_before_tap(psn + 2)
        .send(psn + 3)
        .nak(psn + 2)
        .resend(psn + 2, psn + 3)
        .ack(psn + 3);
  return script;
}

TEST(Cases, FewStayAlone) {
  Script script;
  for (u32 qp = 1; qp <= 3; qp++) lossy(script, 0x100 + qp);
  const Report report = analyzed(script);
  EXPECT_EQ(std::ranges::count(report.findings, "loss.retransmission", &FindingRow::id), 3);
  EXPECT_TRUE(find(report, "loss.retransmission")->scope.half_flow);
}

TEST(Cases, ManyOfTwoHostsAreOne) {
  Script script;
  for (u32 qp = 1; qp <= 30; qp++) lossy(script, 0x100 + qp);
  const Report report = analyzed(script);
  EXPECT_EQ(std::ranges::count(report.findings, "loss.retransmission", &FindingRow::id), 1);
  const FindingRow& row = *find(report, "loss.retransmission");
  EXPECT_THAT(row.scope.hosts, testing::Optional(testing::ElementsAre("10.0.0.1", "10.0.0.2")));
  EXPECT_EQ(evidence(report, row.id, "half_flows"), "30");
  EXPECT_EQ(row.count, 600u);
}

TEST(Findings, DeadQueuePairComesFirst) {
  Script script;
  for (u32 qp = 1; qp <= 5; qp++) lossy(script, 0x100 + qp);
  script.between(0x11, 0x22).send(0).ack(0).send(1);
  for (int i = 0; i < 4; i++) script.wait(100ms).resend(1);
  script.wait(1s).between(0x900, 0x901).send(1).ack(1);
  const Report report = analyzed(script);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_THAT(report.findings[0].id, testing::AnyOf("retry.exhausted", "path.responses_stopped"));
  EXPECT_THAT(report.findings[0].text, HasSubstr("QP 0x22"));
}

TEST(Findings, ThresholdsDecideTheSeverity) {
  Script script;
  lossy(script, 0x100);
  EXPECT_EQ(severity(analyzed(script), "loss.retransmission"), "error");
  Options options;
  options.settings = {"loss.retransmission.error=90%", "loss.retransmission.warning=80%"};
  EXPECT_EQ(severity(analyzed(script, options), "loss.retransmission"), "info");
}

TEST(Findings, OnlyOfWhatWasAskedFor) {
  Script script;
  lossy(script, 0x100);
  lossy(script, 0x200);
  Options options;
  options.qps = {0x100};
  const Report report = analyzed(script, options);
  EXPECT_EQ(std::ranges::count(report.findings, "loss.retransmission", &FindingRow::id), 1);
}

}  // namespace
}  // namespace rocetrace::test
