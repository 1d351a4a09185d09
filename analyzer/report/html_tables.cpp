// SPDX-License-Identifier: BSD-3-Clause
// The tables below the page's plots. See html_sections.hpp.

#include <algorithm>

#include "report/columns.hpp"
#include "report/describe.hpp"
#include "report/html_sections.hpp"
#include "report/html_text.hpp"
#include "report/human.hpp"
#include "report/sink.hpp"
#include "report/text_surroundings.hpp"
#include "report/unjudged.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kRows = 200;

// `all`: how many rows there would be.
void write_table(std::string_view title, const Columns& table, std::size_t all, Sink& out) {
  if (table.rows().empty()) return;
  out.print(
      "<h2>{} <span class=\"count\">{}</span></h2>\n<div class=\"table short\"><table>\n"
      "<thead><tr>",
      title, human::grouped(all));
  for (const Columns::Column& column : table.columns())
    out.print("<th{}>{}</th>", column.align == Columns::Align::left ? " class=\"left\"" : "",
              html_text(column.title));
  out.text("</tr></thead>\n<tbody>\n");
  for (const std::vector<std::string>& row : table.rows()) {
    out.text("<tr>");
    for (std::size_t i = 0; i < row.size(); ++i)
      out.print("<td{}>{}</td>",
                table.columns()[i].align == Columns::Align::left ? " class=\"left\"" : "",
                html_text(row[i]));
    out.text("</tr>\n");
  }
  out.text("</tbody></table></div>\n");
  if (all > table.rows().size())
    out.print("<p class=\"hint\">And {} more: -o report.json has all.</p>\n",
              human::grouped(all - table.rows().size()));
}

std::string typical(const MaybeDistribution& times) {
  if (!times) return "-";
  return fmt::format("{} / {}", human::duration(times->p50), human::duration(times->p99));
}

std::string percent(double share) {
  constexpr double kParts = 1e6;
  return human::share(static_cast<u64>(share * kParts), static_cast<u64>(kParts));
}

void write_subnets(const Report& report, Sink& out) {
  Columns table{{{"from", Columns::Align::left},
                 {"to", Columns::Align::left},
                 {"half-flows"},
                 {"packets"},
                 {"resent"},
                 {"resent / s"},
                 {"CE"},
                 {"CNPs"},
                 {"ACK p50 / p99"},
                 {"READ p50 / p99"},
                 {"message p50 / p99"}}};
  for (std::size_t i = 0; i < std::min(report.subnet_pairs.size(), kRows); ++i) {
    const SubnetPairRow& row = report.subnet_pairs[i];
    table.add({row.source, row.destination, human::grouped(row.half_flows),
               human::grouped(row.packets), percent(row.retransmission_share.value_or(0)),
               fmt::format("{:.3g}", row.retransmissions_per_second.value_or(0)),
               percent(row.ce_share), human::grouped(row.cnps), typical(row.ack_latency),
               typical(row.read_latency), typical(row.message_time)});
  }
  write_table("Subnet to subnet", table, report.subnet_pairs.size(), out);
}

void write_hosts(const Report& report, Sink& out) {
  Columns table{{{"host", Columns::Align::left},
                 {"sent"},
                 {"received"},
                 {"as its NIC would count", Columns::Align::left}}};
  for (std::size_t i = 0; i < std::min(report.hosts.size(), kRows); ++i) {
    const HostRow& host = report.hosts[i];
    std::string counters;
    describe(host.counters, [&](std::string_view name, const std::optional<u64>& count) {
      if (count.value_or(0) > 0)
        counters +=
            fmt::format("{}{} {}", counters.empty() ? "" : ", ", name, human::grouped(*count));
    });
    table.add({host.address, human::grouped(host.sent_packets),
               human::grouped(host.received_packets), counters.empty() ? "-" : counters});
  }
  write_table("Hosts", table, report.hosts.size(), out);
}

void write_message_times(const Report& report, Sink& out) {
  Columns table{{{"verb", Columns::Align::left},
                 {"size"},
                 {"messages"},
                 {"median"},
                 {"p90"},
                 {"p99"},
                 {"max"}}};
  for (const MessageTimeRow& row : report.message_times)
    table.add({std::string{row.verb},
               row.up_to_bytes ? "up to " + human::bytes(*row.up_to_bytes) : "larger",
               human::grouped(row.time.count), human::duration(row.time.p50),
               human::duration(row.time.p90), human::duration(row.time.p99),
               human::duration(row.time.max)});
  write_table("How long messages took", table, report.message_times.size(), out);
}

void write_protocols(const Report& report, Sink& out) {
  Columns table{{{"what", Columns::Align::left}, {"packets"}, {"share"}}};
  for (std::size_t i = 0; i < std::min(report.protocols.size(), kRows); ++i)
    table.add({report.protocols[i].name, human::grouped(report.protocols[i].packets),
               human::share(report.protocols[i].packets, report.totals.packets)});
  write_table("What else the capture holds", table, report.protocols.size(), out);
}

void write_lists(const Report& report, Sink& out) {
  for (const SurroundingLines& list : surrounding_lines(report, kRows)) {
    out.print("<h2>{} <span class=\"count\">{}</span></h2>\n<ul>\n", list.title,
              human::grouped(list.all));
    for (const std::string& line : list.lines) out.print("<li>{}</li>\n", html_text(line));
    out.text("</ul>\n");
  }
}

void write_unjudged(const Report& report, Sink& out) {
  if (report.could_not_judge.empty()) return;
  out.text("<h2>Could not be judged from this capture</h2>\n<ul>\n");
  for (const auto& [reason, ids] : unjudged_by_reason(report))
    out.print("<li>{} <code>{}</code></li>\n", html_text(reason), html_text(ids));
  out.text("</ul>\n");
}

}  // namespace

void write_page_rest(const Report& report, Sink& out) {
  write_subnets(report, out);
  write_hosts(report, out);
  write_message_times(report, out);
  write_lists(report, out);
  write_protocols(report, out);
  write_unjudged(report, out);
}

}  // namespace rocetrace
