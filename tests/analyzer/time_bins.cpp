// SPDX-License-Identifier: BSD-3-Clause
// What the reports say over time must add up to what they say in all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "findings/fixture.hpp"
#include "report/formats.hpp"
#include "report/sink.hpp"
#include "report_fixture.hpp"

namespace rocetrace::test {
namespace {

using testing::HasSubstr;

struct Sum {
  u64 packets = 0, wire_bytes = 0, payload_bytes = 0, retransmissions = 0, ce = 0, cnps = 0;
  bool operator==(const Sum&) const = default;
  void add(const TimeBinRow& row) {
    packets += row.packets;
    wire_bytes += row.wire_bytes;
    payload_bytes += row.payload_bytes;
    retransmissions += row.retransmissions.value_or(0);
    ce += row.ce_marked;
    cnps += row.cnps;
  }
};

// With the state, which rows are made from.
Analysis analysis_of(const std::string& path, bool each) {
  Options options;
  options.command = Command::analyze;
  options.captures = {path};
  options.time_bins = each;
  Progress progress(false);
  return analyze(options, progress);
}

std::vector<HalfFlowRow> rows_of(const Report& report) {
  std::vector<HalfFlowRow> rows;
  report.half_flows.each([&](const HalfFlowRow& row) { rows.push_back(row); });
  return rows;
}

class TimeBinsOf : public testing::TestWithParam<const char*> {};

TEST_P(TimeBinsOf, AddUpToTheHalfFlows) {
  const std::string sample = std::string(ROCETRACE_SOURCE_DIR "/samples/") + GetParam();
  const Analysis analysis = analysis_of(sample, true);
  const Report& report = analysis.report;
  std::map<u64, Sum> sums;  // by half-flow; 0: all together
  for (const TimeBinRow& row : report.time_bins) {
    sums[row.half_flow.value_or(0)].add(row);
    EXPECT_GT(row.packets, 0u) << "a bin without packets has no row";
    EXPECT_DOUBLE_EQ(row.payload_bits_per_second, static_cast<double>(row.payload_bytes) * 8e9 /
                                                      static_cast<double>(row.width_ns));
  }
  Sum all;
  for (const HalfFlowRow& row : rows_of(report)) {
    const Sum expected{.packets = row.packets,
                       .wire_bytes = row.wire_bytes,
                       .payload_bytes = row.payload_bytes,
                       .retransmissions = row.requests.retransmissions.value_or(0),
                       .ce = row.ecn.ce,
                       .cnps = row.cnp.packets};
    EXPECT_EQ(sums[row.id], expected) << "half-flow " << row.id;
    all.packets += row.packets;
    all.wire_bytes += row.wire_bytes;
    all.payload_bytes += row.payload_bytes;
    all.retransmissions += row.requests.retransmissions.value_or(0);
    all.ce += row.ecn.ce;
    all.cnps += row.cnp.packets;
  }
  EXPECT_EQ(sums[0], all);
}
INSTANTIATE_TEST_SUITE_P(Samples, TimeBinsOf,
                         testing::Values("blackhole.pcap", "cnp.pcap", "loss_32_qps.pcap",
                                         "loss_write_vlan.pcap", "rnr_recovered.pcap"),
                         [](const auto& sample) {
                           const std::string name = sample.param;
                           return name.substr(0, name.find('.'));
                         });

// Two bursts, 40 ms apart, and one loss in the second.
Script two_bursts() {
  Script script;
  script.send(0, 9).ack(9).wait(40ms);
  script.send(10).lose_before_tap(11).send(12).nak(11).resend(11, 12).ack(12);
  return script;
}

TEST(TimeBins, HoldWhatHappenedThen) {
  const CaptureFile file;
  two_bursts().write(file.path());
  const Analysis analysis = analysis_of(file.path(), false);
  const Report& report = analysis.report;
  ASSERT_GE(report.time_bins.size(), 2u);
  const TimeBinRow& first = report.time_bins.front();
  const TimeBinRow& last = report.time_bins.back();
  EXPECT_EQ(first.half_flow, std::nullopt);
  EXPECT_EQ(first.packets, 11u);
  EXPECT_EQ(first.retransmissions, 0u);
  EXPECT_EQ(last.packets, 6u);
  EXPECT_EQ(last.retransmissions, 2u);
  EXPECT_GE(last.start.ns - first.start.ns, 39'000'000u);
  EXPECT_LE(last.start.ns - first.start.ns, 41'000'000u);
}

TEST(TimeBins, AreOfAllTogetherUnlessAskedForEach) {
  const CaptureFile file;
  two_bursts().write(file.path());
  const Analysis together = analysis_of(file.path(), false);
  for (const TimeBinRow& row : together.report.time_bins) EXPECT_EQ(row.half_flow, std::nullopt);
  const Analysis each = analysis_of(file.path(), true);
  EXPECT_NE(each.report.time_bins.back().half_flow, std::nullopt);
}

TEST(TimeBins, StandInTheTextInAFewSteps) {
  const CaptureFile file;
  two_bursts().write(file.path());
  const Analysis analysis = analysis_of(file.path(), false);
  const std::string text = written(analysis.report, write_text, {});
  EXPECT_THAT(text, HasSubstr("Over time, in steps of 4.19 ms"));
  EXPECT_THAT(text, HasSubstr("37.7 ms        6"));
}

}  // namespace
}  // namespace rocetrace::test
