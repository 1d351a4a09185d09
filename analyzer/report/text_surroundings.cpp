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

void heading(std::string_view text, const ReportStyle& style, Sink& out) {
  out.print("\n{}{}{}\n", style.colour ? "\x1b[1m" : "", text, style.colour ? "\x1b[0m" : "");
}

// Writes the first rows, each as `line` words it, and how many more there are.
template <class Row, class Line>
void write_list(std::string_view title, const std::vector<Row>& rows, const ReportStyle& style,
                Sink& out, Line line) {
  if (rows.empty()) return;
  heading(title, style, out);
  for (std::size_t i = 0; i < std::min(rows.size(), kShown); i++)
    write_wrapped(out, "  ", line(rows[i]), style.width);
  if (rows.size() > kShown)
    out.print("  ... and {} more: -o report.json for all\n", human::grouped(rows.size() - kShown));
}

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

}  // namespace

void write_surroundings(const Report& report, const ReportStyle& style, Sink& out) {
  const auto line = [](const auto& row) { return line_of(row); };
  write_list("ICMP errors about RoCE packets", report.icmp_errors, style, out, line);
  write_list("Pause frames, longest first", report.pauses, style, out, line);
  write_list("Classes of traffic, as LLDP (DCBX) tells", report.dcbx, style, out, line);
  write_list("RoCE packets that sFlow sampled", report.samples, style, out, line);
}

}  // namespace rocetrace
