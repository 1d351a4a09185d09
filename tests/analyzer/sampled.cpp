// SPDX-License-Identifier: BSD-3-Clause
// A capture that holds one packet of many says nothing of losses, and no report may claim it does.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "findings/fixture.hpp"
#include "report/formats.hpp"
#include "report/sink.hpp"
#include "report_fixture.hpp"

namespace rocetrace::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// Every `step`-th packet of a message stream.
void with_one_of(u32 step, const std::function<void(const Report&)>& look) {
  Script script;
  for (u32 psn = 0; psn < 64 * step; psn += step) script.send(psn);
  const CaptureFile file;
  script.write(file.path());
  Options options;
  options.captures = {file.path()};
  Progress progress{false};
  Analysis analysis = analyze(options, progress);
  look(analysis.report);
}

TEST(Sampled, LeavesSequenceCountsOut) {
  with_one_of(32, [](const Report& report) {
    EXPECT_TRUE(has(report, "capture.sampled"));
    const auto json = nlohmann::json::parse(written(report, write_json, {}));
    EXPECT_TRUE(json["totals"]["missing_psns"].is_null());
    EXPECT_TRUE(json["totals"]["retransmissions"].is_null());
    const auto& requests = json["half_flows"][0]["requests"];
    for (const char* key : {"gaps", "missing_psns", "retransmissions", "episodes", "by_cause"})
      EXPECT_TRUE(requests[key].is_null()) << key;
    EXPECT_EQ(requests["packets"], 64) << "packets are counted as ever";
    for (const auto& host : json["hosts"])
      EXPECT_TRUE(host["counters"]["out_of_sequence"].is_null());
    const std::string text = written(report, write_text, {});
    EXPECT_THAT(text, Not(HasSubstr("missing PSN")));
    EXPECT_THAT(text, HasSubstr("trust: low"));
  });
}

TEST(Sampled, IsNotEveryCaptureWithGaps) {
  with_one_of(1, [](const Report& report) {
    EXPECT_FALSE(has(report, "capture.sampled"));
    EXPECT_EQ(report.totals.missing_psns, 0u);
    EXPECT_EQ(report.half_flows.at(0).requests.gaps, 0u);
  });
}

}  // namespace
}  // namespace rocetrace::test
