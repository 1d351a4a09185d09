// SPDX-License-Identifier: BSD-3-Clause
// The Markdown report: what stands in it, and that nothing of a capture can be markup.

#include <gmock/gmock.h>

#include "report_fixture.hpp"

namespace rocetrace {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(ReportMarkdown, TellsTrustThenFindingsThenFlows) {
  Report report = small_report();
  report.captures[0].trust = Trust::limited;
  report.captures[0].trust_reasons = {"It lost packets."};
  const std::string text = written(report, write_markdown);
  const auto at = [&](std::string_view what) {
    const std::size_t found = text.find(what);
    EXPECT_NE(found, std::string::npos) << what << " is not in\n" << text;
    return found;
  };
  EXPECT_LT(at("# RoCE capture report"), at("Trust: **limited**"));
  EXPECT_LT(at("Trust: **limited**"), at("- It lost packets."));
  EXPECT_LT(at("It lost packets."), at("| half-flows | connections |"));
  EXPECT_LT(at("| half-flows | connections |"), at("## Findings"));
  EXPECT_LT(at("## Findings"), at("## Half-flows, worst first"));
  for (const FindingRow& finding : report.findings)
    EXPECT_THAT(text, HasSubstr("### " + std::string(finding.severity) + ": `" + finding.id + "`"));
}

TEST(ReportMarkdown, ShowsWhichSubnetsAreSlowAndWhy) {
  Report report = small_report();
  EXPECT_THAT(written(report, write_markdown), Not(HasSubstr("From subnet to subnet")));
  report.subnet_pairs = {{.source = "10.1.0.0/24",
                          .destination = "10.2.0.0/24",
                          .half_flows = 7,
                          .retransmission_share = 0.0125,
                          .retransmissions_per_second = 42,
                          .ce_share = 0.31,
                          .cnps = 1234},
                         {.source = "10.2.0.0/24", .destination = "10.1.0.0/24"}};
  const std::string text = written(report, write_markdown);
  EXPECT_THAT(text, HasSubstr("## From subnet to subnet, slowest first"));
  EXPECT_THAT(text,
              HasSubstr("| 10.1.0.0/24 | 10.2.0.0/24 | 7 | - | - | 31 % | 1,234 | 1.25 % | 42 |"));
  for (auto* write : {write_text, write_markdown})
    EXPECT_THAT(written(report, write), ContainsRegex("retr/s"));
}

TEST(ReportMarkdown, TakesNothingOfACaptureForMarkup) {
  Report report = small_report();
  report.captures[0].file = "<script>alert(1)</script>|`a`*b*[c](d)\n# e\x1b[2J";
  report.findings[0].text = "| <b> & _c_ ![x](y)";
  const std::string text = written(report, write_markdown);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("\n# e")),
                          Not(HasSubstr("\x1b")), Not(HasSubstr("<b>")), Not(HasSubstr("![x]"))));
  EXPECT_THAT(text,
              HasSubstr("&lt;script>alert\\(1\\)&lt;/script>\\|\\`a\\`\\*b\\*\\[c\\]\\(d\\)"));
}

TEST(ReportMarkdown, SaysWhatCouldNotBeJudged) {
  Report report = small_report();
  report.could_not_judge = {{"icrc.bad", "No packet was captured to its end."}};
  EXPECT_THAT(written(report, write_markdown),
              HasSubstr("## Could not be judged from this capture\n\n- `icrc.bad`: No packet"));
  EXPECT_THAT(written({}, write_markdown), HasSubstr("No RoCE in this capture."));
}

}  // namespace
}  // namespace rocetrace
