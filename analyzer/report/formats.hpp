// SPDX-License-Identifier: BSD-3-Clause
// The report formats: one line each, which --format, -o and the help follow.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace rocetrace {

class Output;
class Sink;

/// How a report for people is laid out.
struct ReportStyle {
  unsigned width = 100;  // columns
  bool colour = false;   // ANSI colours
};

void write_text(const Report& report, const ReportStyle& style, Sink& out);
void write_json(const Report& report, const ReportStyle& style, Sink& out);
void write_ndjson(const Report& report, const ReportStyle& style, Sink& out);

void write_markdown(const Report& report, const ReportStyle& style, Sink& out);

/// CSV (RFC 4180): one table of the report, or its totals. Made for those that kCsvParts names.
template <auto kTable>
void write_csv(const Report& report, const ReportStyle& style, Sink& out);

/// Formats that look at the captures' frames once more. `report` must outlive the output. Throws
/// std::runtime_error, naming the file, if it cannot be written.
std::unique_ptr<Output> make_html(const Report& report, const std::string& path);
std::unique_ptr<Output> make_sqlite(const Report& report, const std::string& path);
std::unique_ptr<Output> make_excerpt(const Report& report, const std::string& path);

/// One of the files that a format consists of.
struct ReportPart {
  std::string_view suffix;  // comes before the extension: NAME.half_flows.csv
  void (*write)(const Report& report, const ReportStyle& style, Sink& out);
};

struct ReportFormat {
  std::string_view name;
  std::string_view extension;  // with its dot
  std::string_view what;
  std::span<const ReportPart> parts;  // standard output gets the first
  // For a format without parts, which goes to files only.
  std::unique_ptr<Output> (*make)(const Report& report, const std::string& path) = nullptr;
};

inline constexpr ReportPart kTextParts[] = {{"", write_text}};
inline constexpr ReportPart kJsonParts[] = {{"", write_json}};
inline constexpr ReportPart kNdjsonParts[] = {{"", write_ndjson}};
inline constexpr ReportPart kMarkdownParts[] = {{"", write_markdown}};
inline constexpr ReportPart kCsvParts[] = {
    {".half_flows", write_csv<&Report::half_flows>},
    {".connections", write_csv<&Report::connections>},
    {".hosts", write_csv<&Report::hosts>},
    {".findings", write_csv<&Report::findings>},
    {".captures", write_csv<&Report::captures>},
    {".could_not_judge", write_csv<&Report::could_not_judge>},
    {".totals", write_csv<&Report::totals>},
    {".subnet_pairs", write_csv<&Report::subnet_pairs>},
    {".message_times", write_csv<&Report::message_times>},
    {".time_bins", write_csv<&Report::time_bins>},
    {".protocols", write_csv<&Report::protocols>},
    {".icmp_errors", write_csv<&Report::icmp_errors>},
    {".pauses", write_csv<&Report::pauses>},
    {".dcbx", write_csv<&Report::dcbx>},
    {".samples", write_csv<&Report::samples>}};

inline constexpr ReportFormat kFormats[] = {
    {"text", ".txt", "summary for people", kTextParts},
    {"json", ".json", "everything, one object", kJsonParts},
    {"ndjson", ".ndjson", "everything, one object a row", kNdjsonParts},
    {"csv", ".csv", "one table a file; half-flows to standard output", kCsvParts},
    {"html", ".html", "a page with tables and plots; needs nothing else", {}, make_html},
    {"md", ".md", "Markdown, for an incident's record", kMarkdownParts},
    {"sqlite", ".sqlite", "a database; further runs are added to it", {}, make_sqlite},
    {"excerpt", ".pcapng", "the frames that show it, with comments", {}, make_excerpt},
};

/// The format of that name that standard output can have, or null.
const ReportFormat* report_format(std::string_view name);

/// The format that a file name's extension asks for, or null.
const ReportFormat* format_of_file(std::string_view path);

/// The width of the terminal that standard output is, and colours if it can show them and NO_COLOR
/// does not forbid it; what a file gets, otherwise.
ReportStyle terminal_style();

/// Writes `report` to standard output, laid out for the terminal if it is one. `colour`: always,
/// never, or anything else for what the terminal wants.
/// Throws PipeClosed, or std::runtime_error.
void print_report(const Report& report, const ReportFormat& format, std::string_view colour);

/// Writes `report` to `path`, in the format of its extension, which must have parts. Each file
/// appears whole or not at all. Throws std::runtime_error with the file's name.
void save_report(const Report& report, const std::string& path);

}  // namespace rocetrace
