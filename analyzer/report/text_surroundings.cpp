// SPDX-License-Identifier: BSD-3-Clause
#include "report/text_surroundings.hpp"

#include <algorithm>

#include "report/columns.hpp"
#include "report/human.hpp"
#include "report/sink.hpp"
#include "report/text_value.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kShown = 8;  // rows of each list

std::string joined(const auto& list, auto&& word) {
  std::string text;
  for (const auto& value : list) text += (text.empty() ? "" : ", ") + word(value);
  return text;
}
std::string numbers(const std::vector<u32>& list) {
  return joined(list, [](u32 value) { return std::to_string(value); });
}

// "02:00:00:00:00:01 (10.0.0.1)": the hosts are what people know.
std::string port_text(const std::string& mac, const std::vector<std::string>& hosts) {
  if (hosts.empty()) return mac;
  return fmt::format("{} ({})", mac,
                     joined(hosts, [](const std::string& host) { return printable(host); }));
}

std::string line_of(const IcmpErrorRow& row) {
  std::string text =
      fmt::format("{} to {}: {}, {} times, about packets to {}", row.reporter, row.source,
                  row.error, human::grouped(row.packets), row.destination);
  if (row.mtu) text += fmt::format("; the MTU there is {}", *row.mtu);
  if (!row.dest_qps.empty())
    text += "; QP " + joined(row.dest_qps, [](u32 qp) { return fmt::format("{:#x}", qp); });
  return text;
}

std::string line_of(const PauseRow& row) {
  return fmt::format(
      "{} pauses {}: {} in all ({:.2g} % of the time), {} at once, by {} frames; on "
      "links of {:g} Gbit/s",
      port_text(row.mac, row.hosts),
      row.priority ? fmt::format("priority {}", *row.priority) : "everything",
      human::duration(row.paused_ns), 100 * row.paused_share, human::duration(row.longest_ns),
      human::grouped(row.frames), row.gigabits_assumed);
}

std::string line_of(const DcbxRow& row) {
  std::string text = port_text(row.mac, row.hosts);
  for (const std::string& name : {row.system, row.port})
    if (!name.empty()) text += ", " + printable(name);
  if (row.lossless_priorities)
    text += row.lossless_priorities->empty()
                ? ": no priority is lossless"
                : ": lossless priority " + numbers(*row.lossless_priorities);
  if (!row.roce_priorities.empty()) text += "; RoCE in priority " + numbers(row.roce_priorities);
  if (!row.dscp_priorities.empty())
    text += "; DSCP:priority " +
            joined(row.dscp_priorities, [](const std::string& pair) { return pair; });
  if (row.changes > 0) text += fmt::format("; changed {} times", human::grouped(row.changes));
  return text;
}

std::string line_of(const SampleRow& row) {
  return fmt::format("{} to {} QP {:#x}: {} ({}), {} samples, about {} packets",
                     printable(row.source), printable(row.destination), row.dest_qp, row.opcode,
                     row.ecn, human::grouped(row.samples), human::grouped(row.estimated_packets));
}

template <class Row>
void add_list(std::string_view title, const std::vector<Row>& rows, std::size_t most,
              std::vector<SurroundingLines>& lists) {
  if (rows.empty()) return;
  SurroundingLines& list = lists.emplace_back();
  list.title = title;
  list.all = rows.size();
  for (std::size_t i = 0; i < std::min(rows.size(), most); i++)
    list.lines.push_back(line_of(rows[i]));
}

}  // namespace

std::vector<SurroundingLines> surrounding_lines(const Report& report, std::size_t most) {
  std::vector<SurroundingLines> lists;
  add_list("ICMP errors about RoCE packets", report.icmp_errors, most, lists);
  add_list("Pause frames, longest first", report.pauses, most, lists);
  add_list("Classes of traffic, as LLDP (DCBX) tells", report.dcbx, most, lists);
  add_list("RoCE packets that sFlow sampled", report.samples, most, lists);
  return lists;
}

void write_surroundings(const Report& report, const ReportStyle& style, Sink& out) {
  for (const SurroundingLines& list : surrounding_lines(report, kShown)) {
    out.print("\n{}{}{}\n", style.colour ? "\x1b[1m" : "", list.title,
              style.colour ? "\x1b[0m" : "");
    for (const std::string& line : list.lines) write_wrapped(out, "  ", line, style.width);
    if (list.all > list.lines.size())
      out.print("  ... and {} more: -o report.json for all\n",
                human::grouped(list.all - list.lines.size()));
  }
}

}  // namespace rocetrace
