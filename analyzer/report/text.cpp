// SPDX-License-Identifier: BSD-3-Clause
// The report for a person in a hurry: can the capture be trusted, what is wrong, which flows.
//
// It has to stay readable with ten thousand QPs, so every list has a limit and says what it left
// out, and where all of it is.

#include <algorithm>
#include <map>
#include <set>

#include "findings/catalog.hpp"
#include "report/columns.hpp"
#include "report/describe.hpp"
#include "report/formats.hpp"
#include "report/human.hpp"
#include "report/lookup.hpp"
#include "report/no_roce.hpp"
#include "report/ranking.hpp"
#include "report/sink.hpp"
#include "report/text_flow.hpp"
#include "report/text_overview.hpp"
#include "report/text_surroundings.hpp"
#include "report/text_value.hpp"
#include "report/unjudged.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kDetailed = 5;      // half-flows described in a block each
constexpr std::size_t kTableRows = 30;    // half-flows in the table
constexpr std::size_t kOtherRows = 12;    // of every other list
constexpr std::size_t kDamagesShown = 3;  // of each capture

enum class Colour { plain, bold, good, warning, bad };

std::string painted(std::string_view text, Colour colour, const ReportStyle& style) {
  if (!style.colour || colour == Colour::plain) return std::string{text};
  constexpr std::string_view kCodes[] = {"", "1", "32", "33", "31"};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<std::size_t>(colour)], text);
}

void heading(std::string_view text, const ReportStyle& style, Sink& out) {
  out.put('\n');
  out.text(painted(text, Colour::bold, style));
  out.put('\n');
}

void left_out(std::size_t all, std::size_t shown, std::string_view what, Sink& out) {
  if (all > shown)
    out.print("  ... and {} {}: -o report.csv for all\n", human::grouped(all - shown), what);
}

void write_trust(const CaptureRow& capture, const ReportStyle& style, Sink& out) {
  if (!capture.trust) return;
  const Colour colour = *capture.trust == Trust::high      ? Colour::good
                        : *capture.trust == Trust::limited ? Colour::warning
                                                           : Colour::bad;
  out.print("  trust: {}\n", painted(word(*capture.trust), colour, style));
  for (const std::string& reason : capture.trust_reasons)
    write_wrapped(out, "    - ", printable(reason), style.width);
}

void write_damages(const CaptureRow& capture, const ReportStyle& style, Sink& out) {
  if (capture.cut_short)
    out.print("  {}: the file ends inside a record\n",
              painted("cut short", Colour::warning, style));
  for (std::size_t i = 0; i < std::min(capture.damages.size(), kDamagesShown); ++i) {
    const DamageRow& damage = capture.damages[i];
    write_wrapped(out, "  damage: ",
                  fmt::format("at byte {}: {}; {} skipped", human::grouped(damage.offset),
                              printable(damage.reason), human::bytes(damage.lost_bytes)),
                  style.width);
  }
  left_out(capture.damages.size(), kDamagesShown, "damaged places", out);
}

void write_capture(const CaptureRow& capture, const ReportStyle& style, Sink& out) {
  out.print("{}\n", painted(printable(capture.file), Colour::bold, style));
  std::string facts = fmt::format("{} packets, {}", human::grouped(capture.packets),
                                  human::bytes(capture.wire_bytes));
  if (capture.first_time && capture.last_time) {
    const u64 first = capture.first_time->ns;
    const u64 last = std::max(first, capture.last_time->ns);
    facts += fmt::format(" in {}, from {}", human::duration(last - first), time_text(first));
  }
  facts += ", " + printable(capture.format);
  for (std::size_t i = 0; i < capture.link_types.size(); ++i)
    facts += (i == 0 ? " of " : ", ") + printable(capture.link_types[i]);
  write_wrapped(out, "  ", facts, style.width);

  std::string roce = fmt::format("RoCE: {} packets ({})", human::grouped(capture.roce_packets),
                                 human::share(capture.roce_packets, capture.packets));
  const auto also = [&](u64 count, std::string_view what) {
    if (count > 0) roce += fmt::format("; {} {}", human::grouped(count), what);
  };
  also(capture.truncated_packets, "cut by the capture");
  also(capture.undecoded_packets, "with an unknown opcode");
  also(capture.not_roce_on_4791, "on UDP port 4791 that are not RoCE");
  also(capture.dropped_packets.value_or(0), "dropped by the capture, it says");
  also(capture.mirror_missing_packets.value_or(0), "lost between the mirror and the capture");
  also(capture.left_out_packets.value_or(0), "not asked for and left out");
  write_wrapped(out, "  ", roce, style.width);
  for (const std::string& note : capture.notes)
    write_wrapped(out, "  ", printable(note), style.width);
  write_damages(capture, style, out);
  write_trust(capture, style, out);
}

void write_totals(const Totals& totals, const ReportStyle& style, Sink& out) {
  std::string text;
  const auto add = [&](u64 count, std::string_view what) {
    // All of these words form their plural alike.
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", human::grouped(count), what,
                        count == 1 ? "" : "s");
  };
  add(totals.half_flows, "half-flow");
  if (totals.connections) add(*totals.connections, "connection");
  if (totals.retransmissions) add(*totals.retransmissions, "retransmission");
  if (totals.missing_psns) add(*totals.missing_psns, "missing PSN");
  add(totals.naks, "NAK");
  add(totals.rnr_naks, "RNR NAK");
  add(totals.cnps, "CNP");
  add(totals.ce_marked, "CE mark");
  out.put('\n');
  write_wrapped(out, "Total: ", text, style.width);
  if (totals.untracked_packets > 0)
    write_wrapped(out, "  ",
                  fmt::format("{} RoCE packets belong to half-flows beyond --max-flows and are in "
                              "no row below.",
                              human::grouped(totals.untracked_packets)),
                  style.width);
}

void write_no_roce(const Report& report, const ReportStyle& style, Sink& out) {
  heading("No RoCE in this capture.", style, out);
  if (report.totals.packets == 0) out.text("  It holds no packets at all.\n");
  if (!report.protocols.empty()) {
    out.text("  It holds:\n");
    Columns table{{{"packets"}, {"share"}, {"what", Columns::Align::left, true}}};
    for (std::size_t i = 0; i < std::min(report.protocols.size(), kOtherRows); ++i) {
      const ProtocolRow& protocol = report.protocols[i];
      table.add({human::grouped(protocol.packets),
                 human::share(protocol.packets, report.totals.packets), printable(protocol.name)});
    }
    table.write(out, style.width, style.colour);
    left_out(report.protocols.size(), kOtherRows, "other kinds", out);
  }
  out.text("  What this usually means:\n");
  for (const std::string_view meaning : kNoRoceMeanings)
    write_wrapped(out, "    - ", meaning, style.width);
}

// What a kind usually means and what to do next stands at the end of each finding's text; a reader
// needs it once.
std::string without_advice(const FindingRow& finding) {
  std::string text = finding.text;
  const FindingKind* kind = finding_kind(finding.id);
  if (!kind) return text;
  for (const std::string_view known : {kind->next, kind->means})
    if (text.size() > known.size() + 1 && text.ends_with(known))
      text.resize(text.size() - known.size() - 1);
  return text;
}

void write_findings(const Report& report, const ReportStyle& style, Sink& out) {
  if (report.findings.empty()) return;
  heading("Findings", style, out);
  std::set<std::string_view> explained;
  for (std::size_t i = 0; i < std::min(report.findings.size(), kTableRows); ++i) {
    const FindingRow& finding = report.findings[i];
    const Colour colour = finding.severity == "error"     ? Colour::bad
                          : finding.severity == "warning" ? Colour::warning
                                                          : Colour::plain;
    out.print("  {} {}\n", painted(fmt::format("{:<7}", finding.severity), colour, style),
              painted(printable(finding.id), Colour::bold, style));
    const bool first = explained.insert(finding.id).second;
    write_wrapped(out, "          ", printable(first ? finding.text : without_advice(finding)),
                  style.width);
  }
  left_out(report.findings.size(), kTableRows, "more findings", out);
}

// The half-flows to describe. One that only carries the answers to a worse one is described there.
std::vector<std::pair<HalfFlowRow, std::optional<OtherSide>>> worst_flows(const Report& report,
                                                                          const Ranking& ranking) {
  std::vector<HalfFlowRow> rows;
  for (const Ranked& ranked : ranking.worst)
    if (ranked.trouble.kind != Trouble::Kind::none)
      rows.push_back(report.half_flows.at(ranked.index));
  std::vector<u64> ids;
  for (const HalfFlowRow& row : rows) ids.push_back(row.id);
  const std::map<u64, ConnectionRow> connections = connections_of(report, ids);

  std::vector<std::pair<HalfFlowRow, std::optional<OtherSide>>> worst;
  for (const HalfFlowRow& row : rows) {
    if (worst.size() == kDetailed) break;
    const auto connection = connections.find(row.id);
    if (connection == connections.end()) {
      worst.emplace_back(row, std::nullopt);
      continue;
    }
    const std::optional<u64> partner = partner_in(connection->second, row.id);
    const bool partner_told = std::ranges::any_of(
        worst, [&](const auto& told) { return partner && told.first.id == *partner; });
    if (partner_told && trouble_of(row).kind <= Trouble::Kind::disorder) continue;
    worst.emplace_back(
        row, OtherSide{connection->second, partner ? half_flow(report, *partner) : std::nullopt});
  }
  return worst;
}

void write_worst(const Report& report, const Ranking& ranking, const ReportStyle& style,
                 Sink& out) {
  const auto worst = worst_flows(report, ranking);
  if (worst.empty()) {
    heading("No half-flow had trouble.", style, out);
    return;
  }
  std::string title =
      fmt::format("Worst half-flows (of {}: {} with trouble",
                  human::grouped(report.half_flows.size()), human::grouped(ranking.troubled));
  if (ranking.congested > 0)
    title += fmt::format(", {} with congestion marks alone", human::grouped(ranking.congested));
  heading(title + ")", style, out);
  bool first = true;
  for (const auto& [row, other] : worst) {
    if (!first) out.put('\n');
    first = false;
    write_flow(row, other, style, out);
  }
}

void write_flow_table(const Report& report, const Ranking& ranking, const ReportStyle& style,
                      Sink& out) {
  heading("Half-flows, worst first, then by size", style, out);
  Columns table = flow_columns();
  for (const Ranked& ranked : ranking.worst)
    table.add(flow_cells(report.half_flows.at(ranked.index)));
  table.write(out, style.width, style.colour);
  const std::size_t all = report.half_flows.size();
  const std::size_t shown = ranking.worst.size();
  const bool rest_is_clean =
      !ranking.worst.empty() && ranking.worst.back().trouble.kind == Trouble::Kind::none;
  left_out(all, shown, rest_is_clean ? "more without trouble" : "more", out);
}

// "10.0.0.2 0x11": the QP that a half-flow leads to.
std::string end_of(const Report& report, const std::optional<u64>& id) {
  const std::optional<HalfFlowRow> row = id ? half_flow(report, *id) : std::nullopt;
  return row ? fmt::format("{} {:#x}", printable(row->destination), row->dest_qp) : "?";
}

void write_connections(const Report& report, const ReportStyle& style, Sink& out) {
  if (report.connections.empty()) return;
  // The slowest to answer first: what a stalled application would point at.
  std::vector<ConnectionRow> rows;
  const auto slowness = [](const ConnectionRow& row) {
    return std::max(row.ack_latency ? row.ack_latency->p99 : 0,
                    row.read_latency ? row.read_latency->p99 : 0);
  };
  const auto slower = [&](const ConnectionRow& a, const ConnectionRow& b) {
    return slowness(a) != slowness(b) ? slowness(a) > slowness(b) : a.id < b.id;
  };
  report.connections.each([&](const ConnectionRow& row) {
    if (!row.half_flows[0] || !row.half_flows[1]) return;
    if (rows.size() == kOtherRows && !slower(row, rows.back())) return;
    rows.insert(std::ranges::upper_bound(rows, row, slower), row);
    if (rows.size() > kOtherRows) rows.pop_back();
  });
  if (rows.empty()) return;
  heading("Connections, slowest answers first", style, out);
  Columns table = connection_columns();
  for (const ConnectionRow& row : rows)
    table.add(connection_cells(row, end_of(report, row.half_flows[1]),
                               end_of(report, row.half_flows[0])));
  table.write(out, style.width, style.colour);
  left_out(report.connections.size(), rows.size(), "more", out);
}

void write_hosts(const Report& report, const ReportStyle& style, Sink& out) {
  std::vector<std::pair<std::string, std::string>> hosts;
  for (const HostRow& host : report.hosts) {
    std::string counters;
    describe(host.counters, [&](std::string_view name, const std::optional<u64>& count) {
      if (count.value_or(0) > 0)
        counters +=
            fmt::format("{}{} {}", counters.empty() ? "" : ", ", name, human::grouped(*count));
    });
    if (host.cnp_pacing)
      counters +=
          fmt::format("{}sends CNPs at least {} apart, held by {}", counters.empty() ? "" : "; ",
                      human::duration(host.cnp_pacing->interval_ns), host.cnp_pacing->scope);
    if (!counters.empty()) hosts.emplace_back(printable(host.address), counters);
  }
  if (hosts.empty()) return;
  heading("Hosts, as their NICs would count", style, out);
  for (std::size_t i = 0; i < std::min(hosts.size(), kOtherRows); ++i)
    write_wrapped(out, fmt::format("  {:<15}  ", hosts[i].first), hosts[i].second, style.width);
  left_out(hosts.size(), kOtherRows, "more hosts", out);
}

void write_unjudged(const Report& report, const ReportStyle& style, Sink& out) {
  if (report.could_not_judge.empty()) return;
  heading("Could not be judged from this capture", style, out);
  for (const auto& [reason, ids] : unjudged_by_reason(report)) {
    write_wrapped(out, "  ", printable(reason), style.width);
    write_wrapped(out, "    ", printable(ids), style.width);
  }
}

}  // namespace

void write_text(const Report& report, const ReportStyle& style, Sink& out) {
  for (const CaptureRow& capture : report.captures) write_capture(capture, style, out);
  if (report.totals.roce_packets == 0) {
    write_no_roce(report, style, out);
    write_surroundings(report, style, out);
    write_findings(report, style, out);
    return;
  }
  write_totals(report.totals, style, out);
  write_findings(report, style, out);
  if (!report.half_flows.empty()) {
    const Ranking ranking = rank(report.half_flows, kTableRows);
    write_worst(report, ranking, style, out);
    write_flow_table(report, ranking, style, out);
  }
  write_connections(report, style, out);
  write_subnet_pairs(report, style, out);
  write_message_times(report, style, out);
  write_time_bins(report, style, out);
  write_hosts(report, style, out);
  write_surroundings(report, style, out);
  write_unjudged(report, style, out);
}

}  // namespace rocetrace
