// SPDX-License-Identifier: BSD-3-Clause
// Picks a report format and the place that it goes to. See formats.hpp.

#include "report/formats.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "report/sink.hpp"

namespace rocetrace {

ReportStyle terminal_style() {
  ReportStyle style;
  if (!::isatty(STDOUT_FILENO)) return style;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = std::clamp<unsigned>(size.ws_col, 60, 200);
  const char* terminal = std::getenv("TERM");
  const char* no_colour = std::getenv("NO_COLOR");
  style.colour =
      terminal && std::string_view{terminal} != "dumb" && (!no_colour || no_colour[0] == '\0');
  return style;
}

const ReportFormat* report_format(std::string_view name) {
  const auto* found = std::ranges::find(kFormats, name, &ReportFormat::name);
  return found == std::end(kFormats) || found->parts.empty() ? nullptr : found;
}

const ReportFormat* format_of_file(std::string_view path) {
  const auto* found = std::ranges::find_if(kFormats, [&](const ReportFormat& format) {
    return path.size() > format.extension.size() && path.ends_with(format.extension);
  });
  return found == std::end(kFormats) ? nullptr : found;
}

void print_report(const Report& report, const ReportFormat& format, std::string_view colour) {
  Sink out = Sink::standard_output();
  ReportStyle style = terminal_style();
  if (colour == "always") style.colour = true;
  if (colour == "never") style.colour = false;
  format.parts.front().write(report, style, out);
  out.commit();
}

void save_report(const Report& report, const std::string& path) {
  const ReportFormat* format = format_of_file(path);
  if (!format) throw std::runtime_error{path + ": no report format has this extension"};
  const std::string stem = path.substr(0, path.size() - format->extension.size());
  // All parts are written before the first gets its name.
  std::vector<Sink> files;
  for (const ReportPart& part : format->parts) {
    std::string name = stem;
    name += part.suffix;
    name += format->extension;
    files.push_back(Sink::file(name));
    part.write(report, {}, files.back());
  }
  for (Sink& file : files) file.commit();
}

}  // namespace rocetrace
