// SPDX-License-Identifier: BSD-3-Clause
// The report for people: what stands first, what is left out, and what no terminal may be told.

#include <gmock/gmock.h>

#include "report/explain.hpp"
#include "report/ranking.hpp"
#include "report/severity.hpp"
#include "report_fixture.hpp"

namespace rocetrace {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const Report& report, const ReportStyle& style = {}) {
  return written(report, write_text, style);
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    longest = std::max(longest, end - begin);
  return longest;
}

HalfFlowRow clean_half_flow(u64 id) {
  HalfFlowRow row;
  row.id = id;
  row.source = "10.0.0.1";
  row.destination = "10.0.0.2";
  row.dest_qp = static_cast<u32>(id);
  row.service = "RC";
  row.packets = 100;
  row.requests.packets = 100;
  return row;
}

std::vector<u64> ids(const Report& report, std::size_t most) {
  std::vector<u64> all;
  for (const Ranked& ranked : rank(report.half_flows, most).worst)
    all.push_back(report.half_flows.at(ranked.index).id);
  return all;
}

TEST(ReportText, SmallReport) {
  EXPECT_EQ(text_of(small_report()), R"(trace.pcap
  1,200 packets, 1.1 MB in 1 s, from 2024-05-06T07:08:09.000000001Z, pcap of Ethernet
  RoCE: 1,001 packets (83 %); 9 cut by the capture; 1 on UDP port 4791 that are not RoCE
  cut short: the file ends inside a record
  damage: at byte 1,234: record longer than the file; 16 B skipped
  trust: limited
    - packets were cut

Total: 2 half-flows, 1 connection, 30 retransmissions, 12 missing PSNs, 4 NAKs, 2 RNR NAKs, 11 CNPs,
       98 CE marks

Findings
  warning loss.retransmission
          30 packets were sent again.

Worst half-flows (of 2: 1 with trouble)
  #1  10.0.0.1 -> 10.0.0.2  QP 0x11 (17)  RC, frames 1 to 1999
    traffic          1,000 packets, 1 MB on the wire in 1 s: 1k packets/s, 8 Mbit/s
                     DSCP 0 (2), DSCP 26 (998), VLAN 100, 2 UDP source ports (49152..49153)
    requests         900 packets in 90 messages
    retransmissions  30 of 900 request packets (3.3 %), 30.7 kB, in 4 recoveries
      by cause       nak_sequence 20, timeout 10
      by place       downstream 30
    PSN gaps         3 gaps, 12 PSNs missing
    also             1 reordered, 5 captured twice
    answers          80 ACKs, 3 READ response packets, 3 sequence NAKs, 1 remote access NAK, 2 RNR
                     NAKs
    CNPs             11 packets; interval min 50 us, median 100 us, p99 200 us, max 250 us
    CE marks         98 of 998 ECN-capable packets (9.8 %)
    wrong ICRC       1 of 991 checked
    other direction  #2 (connection 1, known from psn, confidence 0.97)
    ACK latency      min 4 us, median 8 us, p99 16 us, max 20 us
    message time     min 9 us, median 18 us, p99 36 us, max 45 us

Half-flows, worst first, then by size
  #  source    destination        QP  type  pkts  bytes  resent  share  missing  NAK  RNR  CNP    CE
  1  10.0.0.1  10.0.0.2         0x11  RC      1k     1M      30   3.0%       12    4    2   11  9.8%
  2  fe80::1   fe80::2      0xffffff           1      0       -      -        -    -    -    -     -

Connections, slowest answers first
  #  one end           other end      by   sure   MTU  ACK p50/p99  READ p50/p99  message p50/p99
  1  fe80::2 0xffffff  10.0.0.2 0x11  psn  0.97  1024     8us/16us             -        18us/36us

Hosts, as their NICs would count
  10.0.0.1         packet_seq_err 3

Could not be judged from this capture
  9 packets were cut.
    icrc.bad
)");
}

TEST(ReportText, NoRoceSaysWhatThereIsAndWhatItMeans) {
  Report report;
  report.totals.packets = 100;
  report.protocols = {{"TCP", 90}, {"ARP", 10}};
  EXPECT_THAT(text_of(report),
              AllOf(HasSubstr("No RoCE in this capture."), HasSubstr("90   90 %  TCP"),
                    HasSubstr("Capture on the RDMA device"), HasSubstr("mirror port")));
}

TEST(ReportText, EmptyCaptureSaysSo) {
  EXPECT_THAT(text_of({}), AllOf(HasSubstr("No RoCE in this capture."),
                                 HasSubstr("no packets at all"), HasSubstr("--filter")));
}

TEST(ReportText, TenThousandHalfFlowsStayReadable) {
  Report report;
  report.totals.packets = report.totals.roce_packets = 1'000'000;
  report.half_flows = Table<HalfFlowRow>{10'000, [](std::size_t index, HalfFlowRow& row) {
                                           row = clean_half_flow(index + 1);
                                           if (index == 7'777) row.requests.retransmissions = 9;
                                         }};
  const std::string text = text_of(report);
  EXPECT_THAT(text, AllOf(HasSubstr("of 10,000: 1 with trouble"), HasSubstr("#7778  10.0.0.1"),
                          HasSubstr("... and 9,970 more without trouble: -o report.csv for all")));
  EXPECT_LT(std::ranges::count(text, '\n'), 60);
}

TEST(ReportText, AnswersAreToldWithTheRequestsTheyBelongTo) {
  Report report = small_report();
  HalfFlowRow requests = clean_half_flow(1);
  requests.requests.retransmissions = 5;
  HalfFlowRow answers = clean_half_flow(2);
  answers.requests.packets = 0;
  answers.responses.acks = 7;
  answers.responses.naks.sequence = 3;
  report.half_flows = std::vector{requests, answers};
  const std::string text = text_of(report);
  EXPECT_THAT(text, AllOf(HasSubstr("confidence 0.97): 7 ACKs, 3 sequence NAKs"),
                          HasSubstr("  #1  "), Not(HasSubstr("  #2  "))));
}

TEST(ReportText, LinesFitAHundredColumns) {
  EXPECT_LE(longest_line(text_of(small_report())), 100u);
  Report report = small_report();
  HalfFlowRow wide = lossy_half_flow();
  wide.source = "2001:db8:1111:2222:3333:4444:5555:6666";
  wide.destination = "2001:db8:1111:2222:3333:4444:5555:7777";
  report.half_flows = std::vector{wide};
  EXPECT_LE(longest_line(text_of(report)), 130u);
}

TEST(ReportText, TerminalEscapesOfACaptureAreSpelledOut) {
  Report report = small_report();
  report.captures[0].file = "\x1b[2J\x1b]0;owned\x07.pcap";
  report.captures[0].trust_reasons = {"\x1b[31m"};
  report.captures[0].damages[0].reason =
      "\xc2\x9b"
      "31m";
  report.findings[0].text = "a\rb\x1b";
  const std::string text = text_of(report);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\x07")), Not(HasSubstr("\r")),
                          Not(HasSubstr("\xc2\x9b")), HasSubstr("\\x1b[2J")));
}

TEST(ReportText, ColourIsForTerminals) {
  EXPECT_THAT(text_of(small_report()), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(text_of(small_report(), {.width = 100, .colour = true}),
              HasSubstr("\x1b[33mlimited\x1b[0m"));
}

TEST(Ranking, KindsOfTroubleComeBeforeAmounts) {
  std::vector<HalfFlowRow> rows;
  for (u64 id = 1; id <= 7; ++id) rows.push_back(clean_half_flow(id));
  rows[1].ecn.ce = 50;
  rows[2].responses.rnr_naks = 10;
  rows[3].requests.reordered = 3;
  rows[4].requests.gaps = 1;
  rows[5].requests.retransmissions = 1;
  rows[6].responses.naks.remote_access = 1;
  Report report;
  report.half_flows = rows;
  EXPECT_THAT(ids(report, 10), ElementsAre(7, 6, 5, 4, 3, 2, 1));
  EXPECT_THAT(ids(report, 3), ElementsAre(7, 6, 5));
  EXPECT_EQ(rank(report.half_flows, 0).troubled, 5u);
  EXPECT_EQ(rank(report.half_flows, 0).congested, 1u);
}

TEST(Ranking, OneOfThreeIsNotWorseThanAThousandOfTenThousand) {
  std::vector rows{clean_half_flow(1), clean_half_flow(2)};
  rows[0].packets = 3;
  rows[0].requests.retransmissions = 1;
  rows[1].packets = 10'000;
  rows[1].requests.retransmissions = 1000;
  Report report;
  report.half_flows = rows;
  EXPECT_THAT(ids(report, 2), ElementsAre(2, 1));
}

TEST(Ranking, EqualHalfFlowsKeepTheirOrder) {
  Report report;
  report.half_flows = std::vector{clean_half_flow(1), clean_half_flow(2), clean_half_flow(3)};
  EXPECT_THAT(ids(report, 2), ElementsAre(1, 2));
}

TEST(Severity, FailsAtOrAboveTheOneAskedFor) {
  const Report report = small_report();  // one warning
  EXPECT_FALSE(has_finding_at(report, ""));
  EXPECT_TRUE(has_finding_at(report, "info"));
  EXPECT_TRUE(has_finding_at(report, "warning"));
  EXPECT_FALSE(has_finding_at(report, "error"));
}

std::string explained(std::string_view id) {
  std::string text;
  Sink out = Sink::memory(text);
  explain(id, 80, out);
  out.commit();
  return text;
}

TEST(Explain, TellsMeaningRuleAndNextStep) {
  EXPECT_THAT(explained("spurious"),
              AllOf(HasSubstr("spurious (place)"), HasSubstr("How it is judged"),
                    HasSubstr("What to do next")));
}

TEST(Explain, ListsEveryWordOnce) {
  std::vector<std::string_view> seen;
  const std::string list = explained("");
  for (const Explanation& row : explanations()) {
    EXPECT_THAT(seen, Not(testing::Contains(row.id)));
    seen.push_back(row.id);
    EXPECT_THAT(list, HasSubstr("  " + std::string{row.id} + " "));
  }
}

TEST(Explain, UnknownWordIsRefused) {
  EXPECT_THROW(explained("nonsense"), std::runtime_error);
}

}  // namespace
}  // namespace rocetrace
