// SPDX-License-Identifier: BSD-3-Clause
// What goes into the HTML report: text that stays text, and data whose size has a bound.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "findings/catalog.hpp"
#include "report/html_data.hpp"
#include "report/html_sections.hpp"
#include "report/html_table.hpp"
#include "report/html_text.hpp"
#include "report_fixture.hpp"

namespace rocetrace {
namespace {

using roce::flow::Arrival;
using roce::flow::Observation;
using roce::flow::PacketClass;
using roce::flow::StreamKind;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string section(const Report& report, void (*write)(const Report&, Sink&)) {
  std::string text;
  Sink out = Sink::memory(text);
  write(report, out);
  out.commit();
  return text;
}

nlohmann::json page_data(const Report& report, const Plots& plots) {
  std::string text;
  Sink out = Sink::memory(text);
  write_page_data(report, plots, out);
  out.commit();
  return nlohmann::json::parse(text);
}

constexpr u32 kPsns = 0x1000000;
constexpr u64 kPacketTime = 1'000'000;  // nanoseconds apart

// Moments of the two half-flows of small_report(), one millisecond apart.
class Trace {
 public:
  explicit Trace(Plots& plots) : plots_{plots} {}

  void request(u32 psn, PacketClass of = PacketClass::in_order, u32 missing = 0) {
    show(packet(psn, 0x04),
         {.flow = 1, .missing = missing, .packet_class = of, .stream = StreamKind::request});
  }
  void acknowledge(u32 psn, u8 syndrome = 0x1f) {
    Observation answer = packet(psn, 0x11);
    answer.aeth = u32{syndrome} << 24;
    answer.flags = roce::flow::kHasAeth;
    show(answer, {.flow = 2, .stream = StreamKind::response});
  }

 private:
  static Observation packet(u32 psn, u8 opcode) {
    Observation out;
    out.psn = psn;
    out.opcode = opcode;
    out.wire_size = 100;
    return out;
  }
  void show(Observation packet, const Arrival& arrival) {
    packet.frame = ++frame_;
    packet.time = kNoon + frame_ * kPacketTime;
    const Frame frame{};
    const CaptureInfo info{};
    Moment moment{.frame = frame, .capture = info, .packet = &packet, .arrival = arrival};
    plots_.add(moment);
  }
  Plots& plots_;
  u64 frame_ = 0;
};

Report report_of_a_second() {
  Report report = small_report();
  std::vector<HalfFlowRow> flows = {lossy_half_flow(), bare_half_flow()};
  flows[1].first_time = flows[0].first_time;
  flows[1].last_time = flows[0].last_time;
  report.half_flows = flows;
  return report;
}

const PsnStory& story_of(const Plots& plots) {
  return plots.connections().at(0).stories[0];
}

TEST(HtmlText, MarkupIsEscapedAndControlsAreSpelledOut) {
  EXPECT_EQ(html_text("<a href='x' b=\"y\">&\x1b\n"),
            "&lt;a href=&#39;x&#39; b=&quot;y&quot;&gt;&amp;\\x1b\\x0a");
}

TEST(HtmlText, JsonCannotEndItsElement) {
  const std::string inside = json_in_html(R"({"file":"</script><!--&amp;"})");
  EXPECT_THAT(inside, AllOf(Not(HasSubstr("<")), Not(HasSubstr(">")), Not(HasSubstr("&"))));
  EXPECT_EQ(nlohmann::json::parse(inside)["file"], "</script><!--&amp;");
}

TEST(HtmlSections, EveryStringOfACaptureIsEscaped) {
  const std::string bad = "<script>alert(1)</script>";
  Report report = small_report();
  report.captures[0].file = report.captures[0].format = bad;
  report.captures[0].link_types = report.captures[0].trust_reasons =
      report.captures[0].notes = {bad};
  report.captures[0].damages[0].reason = bad;
  report.findings[0].id = report.findings[0].text = bad;
  report.findings[0].evidence = {{bad, bad}};
  report.findings[0].scope.half_flow.reset();
  report.findings[0].scope.host = bad;
  report.hosts[0].address = bad;
  report.protocols = {{bad, 1}};
  report.could_not_judge = {{bad, bad}};
  report.subnet_pairs.emplace_back().source = bad;
  report.dcbx.emplace_back().system = bad;
  report.pauses.emplace_back().hosts = {bad};
  report.icmp_errors.emplace_back().reporter = bad;
  report.samples.emplace_back().opcode = bad;
  for (const auto& write :
       {write_page_headline, write_page_summary, write_page_findings, write_page_rest}) {
    const std::string text = section(report, write);
    EXPECT_THAT(text, AllOf(HasSubstr("&lt;script&gt;"), Not(HasSubstr("<script"))));
  }
}

TEST(HtmlSections, MeaningStandsBesideTheFirstFindingOfAKindOnly) {
  const FindingKind& kind = *finding_kind("loss.reordering");
  Report report = small_report();
  report.findings[0].id = kind.id;
  report.findings[0].text = fmt::format("Seen. {} {}", kind.means, kind.next);
  report.findings.push_back(report.findings[0]);
  const std::string text = section(report, write_page_findings);
  EXPECT_THAT(text, AllOf(HasSubstr("2 warnings"), HasSubstr("data-half-flow=\"1\"")));
  const std::string means = html_text(kind.means);
  const std::size_t first = text.find(means);
  ASSERT_NE(first, text.npos);
  EXPECT_EQ(text.find(means, first + 1), text.npos);
  EXPECT_EQ(text.find("Seen. "), text.npos) << "what was seen ends where the meaning begins";
}

TEST(HtmlTable, AConnectionIsOneRow) {
  const Report report = small_report();
  const nlohmann::json data = page_data(report, Plots{report});
  EXPECT_EQ(data["all_rows"], 1);
  ASSERT_EQ(data["rows"].size(), 1u);
  const nlohmann::json& row = data["rows"][0];
  EXPECT_EQ(row[0], 1);  // connection
  EXPECT_EQ(data["addresses"][row[4].get<std::size_t>()], "10.0.0.1");
  EXPECT_EQ(row[5], 0xffffff);                 // QP at the source
  EXPECT_EQ(row[7], 0x11);                     // and at the destination
  EXPECT_EQ(row[9], 1001);                     // packets
  EXPECT_EQ(row[11], 30);                      // sent again
  EXPECT_EQ(row[21], distribution(4000).p50);  // ACK latency
  EXPECT_TRUE(row[23].is_null());              // READ latency
}

TEST(HtmlTable, HalfFlowWithoutPartnerIsARow) {
  Report report = small_report();
  report.connections = std::vector<ConnectionRow>{};
  const nlohmann::json data = page_data(report, Plots{report});
  ASSERT_EQ(data["rows"].size(), 2u);
  EXPECT_EQ(data["rows"][0][1], 1) << "the worse one first";
  EXPECT_TRUE(data["rows"][0][5].is_null()) << "its QP at the source is not known";
}

TEST(HtmlPlots, PsnsGoOnAcrossTheWrap) {
  const Report report = report_of_a_second();
  Plots plots{report};
  Trace trace{plots};
  for (const u32 psn : {kPsns - 2, kPsns - 1, 0u, 1u}) trace.request(psn);
  ASSERT_EQ(story_of(plots).sent.size(), 4u);
  EXPECT_EQ(story_of(plots).sent.back().psn, i64{kPsns} + 1);
}

TEST(HtmlPlots, GapNakAndResendAreMarks) {
  const Report report = report_of_a_second();
  Plots plots{report};
  Trace trace{plots};
  trace.request(10);
  trace.request(13, PacketClass::gap, 2);
  trace.acknowledge(11, 0x60);
  trace.request(11, PacketClass::retransmission);
  trace.acknowledge(13);
  std::vector<Mark> marks;
  for (const MarkPoint& mark : story_of(plots).marks) marks.push_back(mark.mark);
  EXPECT_THAT(marks, testing::ElementsAre(Mark::gap, Mark::nak, Mark::retransmission));
  EXPECT_EQ(story_of(plots).marks[0].missing, 2u);
  EXPECT_EQ(story_of(plots).marks[1].note, "nak_sequence");
  EXPECT_EQ(story_of(plots).answered.back().psn, 13);
}

TEST(HtmlPlots, PointsAndMarksAreBoundedHoweverLongTheTraceIs) {
  const Report report = report_of_a_second();
  Plots plots{report};
  Trace trace{plots};
  for (u32 i = 0; i < 200'000; i++) {  // far beyond the end of the axis, where one bin takes it all
    trace.request(i, i % 2 == 0 ? PacketClass::in_order : PacketClass::retransmission);
    trace.acknowledge(i);
  }
  const PsnStory& story = story_of(plots);
  EXPECT_LE(story.sent.size(), 2 * BinAxis::kBins);
  EXPECT_LE(story.answered.size(), 2 * BinAxis::kBins);
  EXPECT_LE(story.marks.size(), 4000 + 4 * BinAxis::kBins);
  EXPECT_LE(story.close_up.size(), 32 * BinAxis::kBins);
  u64 counted = 0;
  for (const MarkPoint& mark : story.marks) counted += mark.count;
  EXPECT_EQ(counted, 100'000u) << "what is not shown is counted";
}

TEST(HtmlPlots, StalePacketsAndDuplicateCapturesMoveNothing) {
  const Report report = report_of_a_second();
  Plots plots{report};
  Trace trace{plots};
  trace.request(10);
  trace.request(0x700000, PacketClass::stale);
  trace.request(10, PacketClass::duplicate_capture);
  trace.request(11);
  EXPECT_EQ(story_of(plots).sent.size(), 2u);
  EXPECT_EQ(story_of(plots).sent.back().psn, 11);
  EXPECT_TRUE(story_of(plots).marks.empty());
}

TEST(HtmlPlots, OnlyWhatWasAskedForIsCounted) {
  Report report = report_of_a_second();
  HalfFlowRow third = bare_half_flow();
  third.id = 3;
  report.half_flows = std::vector{third};
  report.connections = std::vector<ConnectionRow>{};
  Plots plots{report};
  Trace trace{plots};
  trace.request(10);
  EXPECT_THAT(plots.trace().wire_bytes, testing::Each(0u));
}

TEST(HtmlPlots, TraceWithoutTimeHasBinsAllTheSame) {
  Report report = small_report();
  report.captures[0].last_time = report.captures[0].first_time;
  Plots plots{report};
  EXPECT_GE(plots.axis().width(), 1000u);
  EXPECT_EQ(plots.axis().bin(0), 0u);
  EXPECT_EQ(plots.axis().bin(~u64{0}), BinAxis::kBins - 1);
}

}  // namespace
}  // namespace rocetrace
