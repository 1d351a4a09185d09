// SPDX-License-Identifier: BSD-3-Clause
// Summary and findings of the page. See html_sections.hpp; the tables are in html_tables.cpp.

#include "report/html_sections.hpp"

#include <algorithm>
#include <set>

#include "findings/catalog.hpp"
#include "report/describe.hpp"
#include "report/html_text.hpp"
#include "report/human.hpp"
#include "report/no_roce.hpp"
#include "report/sink.hpp"
#include "report/text_value.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kFindings = 200;
constexpr std::size_t kOpenFindings = 3;  // of a kind and severity; the others unfold
constexpr std::size_t kOpenCaptures = 3;
constexpr std::size_t kDamagesShown = 5;

// "2 errors"; every word here forms its plural alike.
std::string counted(u64 count, std::string_view what) {
  return fmt::format("{} {}{}", human::grouped(count), what, count == 1 ? "" : "s");
}

std::string seconds(u64 from, u64 to) {
  return human::duration(to - std::min(from, to));
}

void write_facts(const CaptureRow& capture, Sink& out) {
  out.print("<p>{} packets, {}; {} of them RoCE ({})", human::grouped(capture.packets),
            human::bytes(capture.wire_bytes), human::grouped(capture.roce_packets),
            human::share(capture.roce_packets, capture.packets));
  const auto also = [&](u64 count, std::string_view what) {
    if (count > 0) out.print("; {} {}", human::grouped(count), what);
  };
  also(capture.truncated_packets, "cut by the capture");
  also(capture.undecoded_packets, "with an unknown opcode");
  also(capture.not_roce_on_4791, "on UDP port 4791 that are not RoCE");
  also(capture.dropped_packets.value_or(0), "dropped by the capture, it says");
  also(capture.mirror_missing_packets.value_or(0), "lost between the mirror and the capture");
  also(capture.left_out_packets.value_or(0), "not asked for and left out");
  out.print(". {}", html_text(capture.format));
  for (std::size_t i = 0; i < capture.link_types.size(); ++i)
    out.print("{}{}", i == 0 ? " of " : ", ", html_text(capture.link_types[i]));
  if (capture.first_time && capture.last_time)
    out.print(", {} from {}", seconds(capture.first_time->ns, capture.last_time->ns),
              time_text(capture.first_time->ns));
  out.text(".</p>\n");
}

void write_capture(const CaptureRow& capture, Sink& out) {
  const Word trust = capture.trust ? word(*capture.trust) : Word{};
  out.print("<div class=\"trust {}\"><div class=\"head\"><b>{}</b>", trust,
            html_text(capture.file));
  if (!trust.empty()) out.print("<span class=\"badge {0}\">trust: {0}</span>", trust);
  out.text("</div>\n");
  write_facts(capture, out);
  std::vector<std::string> notes = capture.trust_reasons;
  if (capture.cut_short) notes.emplace_back("The file ends inside a record.");
  for (std::size_t i = 0; i < std::min(capture.damages.size(), kDamagesShown); ++i)
    notes.push_back(fmt::format(
        "Damaged at byte {}: {}; {} skipped.", human::grouped(capture.damages[i].offset),
        capture.damages[i].reason, human::bytes(capture.damages[i].lost_bytes)));
  if (capture.damages.size() > kDamagesShown)
    notes.push_back(fmt::format("And {} more damaged places.",
                                human::grouped(capture.damages.size() - kDamagesShown)));
  notes.insert(notes.end(), capture.notes.begin(), capture.notes.end());
  if (!notes.empty()) out.text("<ul>\n");
  for (const std::string& note : notes) out.print("<li>{}</li>\n", html_text(note));
  if (!notes.empty()) out.text("</ul>\n");
  out.text("</div>\n");
}

void write_tiles(const Totals& totals, Sink& out) {
  const auto tile = [&](std::string_view state, u64 count, std::string_view what) {
    out.print("<div class=\"tile{}\"><b>{}</b><span>{}</span></div>\n", count > 0 ? state : "",
              human::grouped(count), what);
  };
  out.text("<div class=\"tiles\">\n");
  tile("", totals.roce_packets, "RoCE packets");
  if (totals.connections) tile("", *totals.connections, "connections");
  tile("", totals.half_flows, "half-flows");
  if (totals.retransmissions) tile(" bad", *totals.retransmissions, "retransmissions");
  if (totals.missing_psns) tile(" bad", *totals.missing_psns, "missing PSNs");
  tile(" bad", totals.naks, "NAKs");
  tile(" warn", totals.rnr_naks, "RNR NAKs");
  tile(" warn", totals.cnps, "CNPs");
  tile(" warn", totals.ce_marked, "CE marks");
  out.text("</div>\n");
  if (totals.untracked_packets > 0)
    out.print(
        "<p>{} RoCE packets belong to half-flows beyond --max-flows and are in no row "
        "below.</p>\n",
        human::grouped(totals.untracked_packets));
}

// A finding's text ends with what its kind usually means and what to do next: told apart here.
// Of a kind that was `told` of before, only what was seen is new.
void write_words(const FindingRow& finding, bool told, Sink& out) {
  std::string_view seen = finding.text;
  const FindingKind* kind = finding_kind(finding.id);
  const auto take = [&](std::string_view tail) {
    if (tail.empty() || !seen.ends_with(tail)) return false;
    seen.remove_suffix(tail.size());
    while (seen.ends_with(' ')) seen.remove_suffix(1);
    return true;
  };
  const bool has_next = kind && take(kind->next);
  const bool has_meaning = kind && take(kind->means);
  const bool tell = !told && (has_meaning || has_next);
  out.print("<div class=\"words{}\"><p class=\"seen\">{}</p>\n", tell ? "" : " alone",
            html_text(seen));
  if (tell) {
    out.text("<div class=\"soft\">");
    if (has_meaning) out.print("<p>{}</p>\n", html_text(kind->means));
    if (has_next) out.print("<p><b>Next:</b> {}</p>\n", html_text(kind->next));
    out.text("</div>\n");
  }
  out.text("</div>\n");
}

void write_place(const FindingRow& finding, Sink& out) {
  out.text("<span class=\"where\">");
  if (finding.first_frame && finding.last_frame) {
    if (*finding.first_frame == *finding.last_frame) {
      out.print("frame {}", *finding.first_frame);
    } else {
      out.print("frames {} to {}", *finding.first_frame, *finding.last_frame);
    }
    if (finding.first_time) out.print(", from {}", time_text(finding.first_time->ns));
  }
  const FindingScope& scope = finding.scope;
  if (scope.half_flow)
    out.print(" <a class=\"jump\" href=\"#connection\" data-half-flow=\"{}\">show</a>",
              *scope.half_flow);
  if (scope.connection)
    out.print(" <a class=\"jump\" href=\"#connection\" data-connection=\"{}\">show</a>",
              *scope.connection);
  std::string hosts = scope.host.value_or("");
  if (scope.hosts) hosts = fmt::format("{}", fmt::join(*scope.hosts, " "));
  if (!hosts.empty() && hosts.find('/') == hosts.npos)
    out.print(" <a class=\"jump\" href=\"#connections\" data-find=\"{}\">show</a>",
              html_text(hosts));
  out.text("</span>");
}

void write_finding(const FindingRow& finding, bool told, Sink& out) {
  out.print(
      "<article class=\"finding {0}\"><div class=\"head\"><span class=\"badge "
      "{0}\">{0}</span><code>{1}</code>",
      finding.severity, html_text(finding.id));
  write_place(finding, out);
  out.text("</div>\n");
  write_words(finding, told, out);
  if (!finding.evidence.empty()) {
    out.text("<details class=\"evidence\"><summary>Evidence</summary>");
    bool first = true;
    for (const auto& [name, value] : finding.evidence) {
      if (!first) out.text(" &middot; ");
      first = false;
      std::visit(
          [&, &name = name](const auto& held) {
            out.print("{} <b>{}</b>", html_text(name), html_text(fmt::format("{}", held)));
          },
          value);
    }
    out.text("</details>\n");
  }
  out.text("</article>\n");
}

void write_no_roce(const Report& report, Sink& out) {
  out.text("<h2>No RoCE in this capture</h2>\n");
  if (report.totals.packets == 0) out.text("<p>It holds no packets at all.</p>\n");
  out.text("<p>What this usually means:</p>\n<ul>\n");
  for (const std::string_view meaning : kNoRoceMeanings)
    out.print("<li>{}</li>\n", html_text(meaning));
  out.text("</ul>\n");
}

}  // namespace

void write_page_headline(const Report& report, Sink& out) {
  out.text("<p class=\"headline\">");
  constexpr std::size_t kNames = 4;
  for (std::size_t i = 0; i < std::min(report.captures.size(), kNames); ++i)
    out.print("{}<b>{}</b>", i == 0 ? "" : ", ", html_text(report.captures[i].file));
  if (report.captures.size() > kNames) out.print(" and {} more", report.captures.size() - kNames);
  out.print(": {} packets</p>\n", human::grouped(report.totals.packets));
}

void write_page_summary(const Report& report, Sink& out) {
  for (std::size_t i = 0; i < report.captures.size(); ++i) {
    if (i == kOpenCaptures)
      out.print("<details><summary>{} more captures</summary>\n", report.captures.size() - i);
    write_capture(report.captures[i], out);
  }
  if (report.captures.size() > kOpenCaptures) out.text("</details>\n");
  if (report.totals.roce_packets > 0) write_tiles(report.totals, out);
  if (report.totals.roce_packets == 0) write_no_roce(report, out);
}

void write_page_findings(const Report& report, Sink& out) {
  std::string counts;
  for (const auto& [severity, what] :
       {std::pair{"error", "error"}, {"warning", "warning"}, {"info", "note"}}) {
    const auto count = static_cast<u64>(std::ranges::count_if(
        report.findings,
        [&, &severity = severity](const FindingRow& row) { return row.severity == severity; }));
    if (count > 0) counts += (counts.empty() ? "" : ", ") + counted(count, what);
  }
  out.print("<h2>Findings <span class=\"count\">{}</span></h2>\n", counts);
  if (report.findings.empty()) {
    out.text("<p class=\"clean\">Nothing to report.</p>\n");
    return;
  }
  // By kind, in the order of the first of each: a hundred QPs with one trouble hide no other.
  const std::size_t shown = std::min(report.findings.size(), kFindings);
  std::vector<std::vector<const FindingRow*>> kinds;
  for (std::size_t i = 0; i < shown; ++i) {
    const FindingRow& finding = report.findings[i];
    const auto same = [&](const auto& kind) {
      return kind.front()->id == finding.id && kind.front()->severity == finding.severity;
    };
    const auto known = std::ranges::find_if(kinds, same);
    (known != kinds.end() ? *known : kinds.emplace_back()).push_back(&finding);
  }
  std::set<std::string_view> told;
  for (const std::vector<const FindingRow*>& kind : kinds) {
    for (std::size_t i = 0; i < kind.size(); ++i) {
      if (i == kOpenFindings)
        out.print("<details><summary>{} more of {}</summary>\n",
                  human::grouped(kind.size() - kOpenFindings), html_text(kind[i]->id));
      write_finding(*kind[i], !told.insert(kind[i]->id).second, out);
    }
    if (kind.size() > kOpenFindings) out.text("</details>\n");
  }
  if (report.findings.size() > shown)
    out.print("<p>And {} more: -o report.json has all.</p>\n",
              human::grouped(report.findings.size() - shown));
}

}  // namespace rocetrace
