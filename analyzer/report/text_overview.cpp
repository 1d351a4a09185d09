// SPDX-License-Identifier: BSD-3-Clause
#include "report/text_overview.hpp"

#include <algorithm>

#include "report/human.hpp"
#include "report/sink.hpp"
#include "report/text_value.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kTimeRows = 16;  // bins are joined until so few are left
constexpr std::size_t kPairRows = 12;

void heading(std::string_view text, const ReportStyle& style, Sink& out) {
  out.print("\n{}{}{}\n", style.colour ? "\x1b[1m" : "", text, style.colour ? "\x1b[0m" : "");
}

std::string p50_p99(const MaybeDistribution& times) {
  return times ? fmt::format("{}/{}", human::tight(human::duration(times->p50)),
                             human::tight(human::duration(times->p99)))
               : "-";
}

std::string dash_if_none(u64 count) {
  return count == 0 ? "-" : human::grouped(count);
}

// The rows of all half-flows together, `by` neighbouring bins in one.
std::vector<TimeBinRow> joined(const std::vector<TimeBinRow>& rows, u64 start, u64 by) {
  std::vector<TimeBinRow> wide;
  for (const TimeBinRow& row : rows) {
    if (row.half_flow) break;
    const u64 width = by * row.width_ns;
    const u64 begin = start + (row.start.ns - start) / width * width;
    if (wide.empty() || wide.back().start.ns != begin) {
      wide.push_back({.start = {begin}, .width_ns = width});
    }
    TimeBinRow& sum = wide.back();
    sum.packets += row.packets;
    sum.payload_bytes += row.payload_bytes;
    sum.wire_bytes += row.wire_bytes;
    if (row.retransmissions)
      sum.retransmissions = sum.retransmissions.value_or(0) + *row.retransmissions;
    sum.ce_marked += row.ce_marked;
    sum.cnps += row.cnps;
  }
  return wide;
}

}  // namespace

void write_time_bins(const Report& report, const ReportStyle& style, Sink& out) {
  if (report.time_bins.size() < 2) return;
  const u64 start = report.time_bins.front().start.ns;
  u64 by = 1;
  std::vector<TimeBinRow> rows = joined(report.time_bins, start, by);
  while (rows.size() > 1 && (rows.back().start.ns - start) / rows.back().width_ns >= kTimeRows) {
    by *= 2;
    rows = joined(report.time_bins, start, by);
  }
  if (rows.size() < 2) return;
  heading(fmt::format("Over time, in steps of {}", human::duration(rows.front().width_ns)), style,
          out);
  Columns table{
      {{"after"}, {"packets"}, {"wire rate"}, {"payload rate"}, {"retr"}, {"CE"}, {"CNP"}}};
  for (const TimeBinRow& row : rows) {
    const double seconds = static_cast<double>(row.width_ns) * 1e-9;
    const auto rate = [&](u64 bytes) {
      return human::bit_rate(static_cast<double>(bytes) * 8 / seconds);
    };
    table.add({human::duration(row.start.ns - start), human::grouped(row.packets),
               rate(row.wire_bytes), rate(row.payload_bytes),
               dash_if_none(row.retransmissions.value_or(0)), dash_if_none(row.ce_marked),
               dash_if_none(row.cnps)});
  }
  table.write(out, style.width, style.colour);
}

Columns subnet_pairs_table(const Report& report, std::size_t most) {
  Columns table{{{"from", Columns::Align::left, true},
                 {"to", Columns::Align::left, true},
                 {"flows"},
                 {"ACK p50/p99"},
                 {"READ p50/p99"},
                 {"CE"},
                 {"CNP"},
                 {"retr"},
                 {"retr/s"},
                 {"payload"}}};
  for (std::size_t i = 0; i < std::min(report.subnet_pairs.size(), most); i++) {
    const SubnetPairRow& row = report.subnet_pairs[i];
    const auto percent = [](double share) {
      return share == 0 ? std::string{"-"} : fmt::format("{:.3g} %", 100 * share);
    };
    const double rate = row.retransmissions_per_second.value_or(0);
    table.add({printable(row.source), printable(row.destination), human::grouped(row.half_flows),
               p50_p99(row.ack_latency), p50_p99(row.read_latency), percent(row.ce_share),
               dash_if_none(row.cnps), percent(row.retransmission_share.value_or(0)),
               rate == 0 ? "-" : fmt::format("{:.3g}", rate), human::bytes(row.payload_bytes)});
  }
  return table;
}

void write_subnet_pairs(const Report& report, const ReportStyle& style, Sink& out) {
  if (report.subnet_pairs.size() < 2) return;
  heading("From subnet to subnet, slowest first", style, out);
  subnet_pairs_table(report, kPairRows).write(out, style.width, style.colour);
  if (report.subnet_pairs.size() > kPairRows)
    out.print("  ... and {} more: -o report.json for all\n",
              human::grouped(report.subnet_pairs.size() - kPairRows));
}

void write_message_times(const Report& report, const ReportStyle& style, Sink& out) {
  if (report.message_times.empty()) return;
  heading("Message completion times", style, out);
  Columns table{{{"verb", Columns::Align::left},
                 {"up to"},
                 {"messages"},
                 {"min"},
                 {"p50"},
                 {"p99"},
                 {"max"}}};
  for (const MessageTimeRow& row : report.message_times)
    table.add({std::string{row.verb}, row.up_to_bytes ? human::bytes(*row.up_to_bytes) : "larger",
               human::grouped(row.time.count), human::duration(row.time.min),
               human::duration(row.time.p50), human::duration(row.time.p99),
               human::duration(row.time.max)});
  table.write(out, style.width, style.colour);
}

}  // namespace rocetrace
