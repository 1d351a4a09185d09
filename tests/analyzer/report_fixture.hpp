// SPDX-License-Identifier: BSD-3-Clause
// A small report made by hand, with a value in every field, and how to read what is written of it.

#pragma once

#include <string>

#include "report/formats.hpp"
#include "report/sink.hpp"

namespace rocetrace {

inline Distribution distribution(u64 scale) {
  return {.count = 10,
          .min = scale,
          .p50 = 2 * scale,
          .p90 = 3 * scale,
          .p99 = 4 * scale,
          .max = 5 * scale,
          .mean = 2 * scale};
}

// 2024-05-06T07:08:09.000000001Z
inline constexpr u64 kNoon = 1'714'979'289'000'000'001;

inline HalfFlowRow lossy_half_flow() {
  HalfFlowRow row;
  row.id = 1;
  row.source = "10.0.0.1";
  row.destination = "10.0.0.2";
  row.dest_qp = 0x11;
  row.service = "RC";
  row.packets = 1000;
  row.wire_bytes = 1'000'000;
  row.payload_bytes = 900'000;
  row.first_time = {kNoon};
  row.last_time = {kNoon + 1'000'000'000};
  row.first_frame = 1;
  row.last_frame = 1999;
  row.source_ports = {49152, 49153};
  row.dscp = {{0, 2}, {26, 998}};
  row.vlans = {100};
  row.ecn = {.not_ect = 2, .ect0 = 900, .ce = 98};
  row.cnp = {.packets = 11, .interval = distribution(50'000)};
  row.requests = {.packets = 900,
                  .messages = 90,
                  .first_psn = 0xfffff0,
                  .last_psn = 860,
                  .gaps = 3,
                  .missing_psns = 12,
                  .retransmissions = 30,
                  .retransmitted_bytes = 30'720,
                  .episodes = 4,
                  .by_cause = CauseCounts{.nak_sequence = 20, .timeout = 10},
                  .by_place = PlaceCounts{.downstream = 30},
                  .reordered = 1,
                  .duplicate_captures = 5,
                  .stale = 0};
  row.responses = {.packets = 89,
                   .acks = 80,
                   .naks = {.sequence = 3, .remote_access = 1},
                   .rnr_naks = 2,
                   .read_responses = 3,
                   .atomic_acks = 0,
                   .gaps = 0,
                   .missing_psns = 0,
                   .retransmissions = 0};
  row.icrc = {.good = 990, .bad = 1, .not_captured = 9};
  return row;
}

// Nothing optional is known.
inline HalfFlowRow bare_half_flow() {
  HalfFlowRow row;
  row.id = 2;
  row.version = 1;
  row.source = "fe80::1";
  row.destination = "fe80::2";
  row.dest_qp = 0xffffff;
  row.packets = 1;
  return row;
}

inline Report small_report() {
  Report report;
  report.captures.push_back({.file = "trace.pcap",
                             .format = "pcap",
                             .link_types = {"Ethernet"},
                             .packets = 1200,
                             .wire_bytes = 1'100'000,
                             .roce_packets = 1001,
                             .not_roce_on_4791 = 1,
                             .truncated_packets = 9,
                             .undecoded_packets = 0,
                             .first_time = Time{kNoon},
                             .last_time = Time{kNoon + 1'000'000'000},
                             .cut_short = true,
                             .trust = Trust::limited,
                             .trust_reasons = {"packets were cut"},
                             .time_resolution_ns = 1,
                             .dropped_packets = std::nullopt,
                             .damages = {{1234, 16, "record longer than the file"}}});
  report.totals = {.packets = 1200,
                   .roce_packets = 1001,
                   .half_flows = 2,
                   .connections = 1,
                   .retransmissions = 30,
                   .missing_psns = 12,
                   .naks = 4,
                   .rnr_naks = 2,
                   .cnps = 11,
                   .ce_marked = 98,
                   .untracked_packets = 0};
  report.half_flows = std::vector{lossy_half_flow(), bare_half_flow()};
  report.connections = std::vector<ConnectionRow>{{.id = 1,
                                                   .half_flows = {1, 2},
                                                   .evidence = "psn",
                                                   .confidence = 0.97,
                                                   .path_mtu = 1024,
                                                   .ack_latency = distribution(4000),
                                                   .read_latency = std::nullopt,
                                                   .message_time = distribution(9000),
                                                   .nak_generation = std::nullopt,
                                                   .nak_reaction = std::nullopt,
                                                   .ce_to_cnp = std::nullopt}};
  HostRow host;
  host.address = "10.0.0.1";
  host.counters.packet_seq_err = 3;
  host.counters.rp_cnp_handled = 0;
  report.hosts = {host};
  FindingRow finding;
  finding.id = "loss.retransmission";
  finding.severity = "warning";
  finding.scope.half_flow = 1;
  finding.first_frame = 5;
  finding.last_frame = 1500;
  finding.first_time = Time{kNoon};
  finding.count = 30;
  finding.evidence = {{"amplification", 2.5}, {"lost", u64{12}}, {"why", "NAK, mostly"}};
  finding.text = "30 packets were sent again.";
  report.findings = {finding};
  report.protocols = {{"TCP", 150}, {"ARP", 49}};
  report.could_not_judge = {{"icrc.bad", "9 packets were cut."}};
  return report;
}

inline std::string written(const Report& report,
                           void (*write)(const Report&, const ReportStyle&, Sink&),
                           const ReportStyle& style = {}) {
  std::string text;
  Sink out = Sink::memory(text);
  write(report, style, out);
  out.commit();
  return text;
}

}  // namespace rocetrace
