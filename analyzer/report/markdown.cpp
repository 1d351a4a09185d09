// SPDX-License-Identifier: BSD-3-Clause
// The report in Markdown (CommonMark with GitHub's tables), for the record of an incident: trust
// first, then what was found, then the worst half-flows.
//
// Whatever comes from a capture could be markup, so every punctuation character of it is escaped.

#include <algorithm>

#include "report/columns.hpp"
#include "report/describe.hpp"
#include "report/formats.hpp"
#include "report/human.hpp"
#include "report/lookup.hpp"
#include "report/ranking.hpp"
#include "report/sink.hpp"
#include "report/text_flow.hpp"
#include "report/text_overview.hpp"
#include "report/text_value.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kFindings = 50;
constexpr std::size_t kHalfFlows = 20;
constexpr std::size_t kSubnetPairs = 20;
constexpr std::size_t kDamagesShown = 3;

// `text` as nothing but text.
std::string plain(std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_{}[]()#+!|~^$";
  std::string out;
  for (const char c : printable(text)) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      if (kMarkup.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

void write_table(const Columns& table, Sink& out) {
  for (const Columns::Column& column : table.columns()) out.print("| {} ", plain(column.title));
  out.text("|\n");
  for (const Columns::Column& column : table.columns())
    out.text(column.align == Columns::Align::left ? "|---" : "|--:");
  out.text("|\n");
  for (const std::vector<std::string>& row : table.rows()) {
    for (const std::string& cell : row) out.print("| {} ", plain(cell));
    out.text("|\n");
  }
}

void left_out(std::size_t all, std::size_t shown, std::string_view what, Sink& out) {
  if (all > shown) out.print("\n... and {} {}.\n", human::grouped(all - shown), what);
}

void write_capture(const CaptureRow& capture, Sink& out) {
  out.print("- **{}**: {} packets, {} of them RoCE", plain(capture.file),
            human::grouped(capture.packets), human::grouped(capture.roce_packets));
  if (capture.first_time && capture.last_time) {
    const u64 first = capture.first_time->ns;
    out.print(", {} from {}", human::duration(std::max(first, capture.last_time->ns) - first),
              time_text(first));
  }
  if (capture.truncated_packets > 0)
    out.print("; {} cut by the capture", human::grouped(capture.truncated_packets));
  if (capture.dropped_packets.value_or(0) > 0)
    out.print("; {} dropped by the capture, it says", human::grouped(*capture.dropped_packets));
  out.put('\n');
  if (capture.trust) out.print("  - Trust: **{}**\n", word(*capture.trust));
  for (const std::string& reason : capture.trust_reasons) out.print("  - {}\n", plain(reason));
  if (capture.cut_short) out.text("  - The file ends inside a record.\n");
  for (std::size_t i = 0; i < std::min(capture.damages.size(), kDamagesShown); ++i)
    out.print("  - Damaged at byte {}: {}\n", human::grouped(capture.damages[i].offset),
              plain(capture.damages[i].reason));
}

void write_totals(const Totals& totals, Sink& out) {
  Columns table{{{"half-flows"},
                 {"connections"},
                 {"retransmissions"},
                 {"missing PSNs"},
                 {"NAKs"},
                 {"RNR NAKs"},
                 {"CNPs"},
                 {"CE marks"}}};
  table.add({human::grouped(totals.half_flows),
             totals.connections ? human::grouped(*totals.connections) : "-",
             totals.retransmissions ? human::grouped(*totals.retransmissions) : "-",
             totals.missing_psns ? human::grouped(*totals.missing_psns) : "-",
             human::grouped(totals.naks), human::grouped(totals.rnr_naks),
             human::grouped(totals.cnps), human::grouped(totals.ce_marked)});
  out.put('\n');
  write_table(table, out);
}

void write_finding(const FindingRow& finding, Sink& out) {
  out.print("\n### {}: `{}`\n\n{}\n", finding.severity, finding.id, plain(finding.text));
  if (finding.first_frame && finding.last_frame) {
    if (*finding.first_frame == *finding.last_frame) {
      out.print("\n- frame {}", *finding.first_frame);
    } else {
      out.print("\n- frames {} to {}", *finding.first_frame, *finding.last_frame);
    }
    if (finding.first_time) out.print(", from {}", time_text(finding.first_time->ns));
    out.put('\n');
  }
  if (finding.evidence.empty()) return;
  out.text("- evidence: ");
  bool first = true;
  for (const auto& [name, value] : finding.evidence) {
    if (!first) out.text(", ");
    first = false;
    std::visit(
        [&, &name = name](const auto& held) { out.text(plain(fmt::format("{} {}", name, held))); },
        value);
  }
  out.put('\n');
}

void write_findings(const Report& report, Sink& out) {
  if (report.findings.empty()) return;
  out.text("\n## Findings\n");
  for (std::size_t i = 0; i < std::min(report.findings.size(), kFindings); ++i)
    write_finding(report.findings[i], out);
  left_out(report.findings.size(), kFindings, "more findings", out);
}

// "10.0.0.2 0x11": the QP that a half-flow leads to.
std::string end_of(const Report& report, const std::optional<u64>& id) {
  const std::optional<HalfFlowRow> row = id ? half_flow(report, *id) : std::nullopt;
  return row ? fmt::format("{} {:#x}", row->destination, row->dest_qp) : "?";
}

// The worst half-flows, and the connections that they are part of.
void write_flows(const Report& report, Sink& out) {
  const Ranking ranking = rank(report.half_flows, kHalfFlows);
  if (ranking.worst.empty()) return;
  out.print("\n## Half-flows, worst first\n\n{} of {} had trouble.\n\n",
            human::grouped(ranking.troubled + ranking.congested),
            human::grouped(report.half_flows.size()));
  Columns flows = flow_columns();
  std::vector<u64> ids;
  for (const Ranked& ranked : ranking.worst) {
    const HalfFlowRow row = report.half_flows.at(ranked.index);
    flows.add(flow_cells(row));
    ids.push_back(row.id);
  }
  write_table(flows, out);
  left_out(report.half_flows.size(), ids.size(), "more half-flows", out);

  const std::map<u64, ConnectionRow> by_half_flow = connections_of(report, ids);
  Columns connections = connection_columns();
  std::vector<u64> told;
  for (const u64 id : ids) {
    const auto at = by_half_flow.find(id);
    if (at == by_half_flow.end() || std::ranges::count(told, at->second.id) > 0) continue;
    const ConnectionRow& row = at->second;
    told.push_back(row.id);
    connections.add(connection_cells(row, end_of(report, row.half_flows[1]),
                                     end_of(report, row.half_flows[0])));
  }
  if (told.empty()) return;
  out.text("\n## Their connections\n\n");
  write_table(connections, out);
}

// A pair that is slow because its packets are marked must be readable at once.
void write_subnets(const Report& report, Sink& out) {
  if (report.subnet_pairs.size() < 2) return;
  out.text("\n## From subnet to subnet, slowest first\n\n");
  write_table(subnet_pairs_table(report, kSubnetPairs), out);
  left_out(report.subnet_pairs.size(), kSubnetPairs, "more pairs of subnets", out);
}

void write_unjudged(const Report& report, Sink& out) {
  if (report.could_not_judge.empty()) return;
  out.text("\n## Could not be judged from this capture\n\n");
  for (const UnjudgedRow& row : report.could_not_judge)
    out.print("- `{}`: {}\n", row.id, plain(row.text));
}

}  // namespace

void write_markdown(const Report& report, const ReportStyle&, Sink& out) {
  out.text("# RoCE capture report\n\n");
  for (const CaptureRow& capture : report.captures) write_capture(capture, out);
  if (report.totals.roce_packets == 0) {
    out.text("\nNo RoCE in this capture.\n");
  } else {
    write_totals(report.totals, out);
    write_findings(report, out);
    write_subnets(report, out);
    write_flows(report, out);
  }
  write_unjudged(report, out);
}

}  // namespace rocetrace
