// SPDX-License-Identifier: BSD-3-Clause
// The program: read the options, do the work, tell how it went.

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

#include "analyze.hpp"
#include "cut.hpp"
#include "find_captures.hpp"
#include "options.hpp"
#include "report/explain.hpp"
#include "report/formats.hpp"
#include "report/output.hpp"
#include "report/packet_row.hpp"
#include "report/progress.hpp"
#include "report/severity.hpp"
#include "report/sink.hpp"
#include "report/text_value.hpp"
#include "retell.hpp"

namespace rocetrace {
namespace {

void complain(std::string_view what) {
  fmt::print(stderr, "rocetrace: {}\n", printable(what));
}

int print(auto&& write) {
  Sink out = Sink::standard_output();
  write(out);
  out.commit();
  return 0;
}

int run(const Options& options) {
  // A bar among the lines of a listing would be in their way.
  const bool is_listing = options.command == Command::packets && ::isatty(STDOUT_FILENO) == 1;
  Progress progress{options.progress && !is_listing};
  switch (options.command) {
    case Command::analyze: {
      Analysis analysis = analyze(options, progress, wants_second_pass(options.outputs));
      const std::vector<std::string> failures =
          write_outputs(analysis.report, options.outputs,
                        [&](const auto& visit) { retell(options, analysis, progress, visit); });
      progress.clear();
      for (const std::string& failure : failures) complain(failure);
      try {
        print_report(analysis.report, *report_format(options.format), options.colour);
      } catch (const PipeClosed&) {
        complain("standard output: its reader is gone");
        return 2;
      }
      if (!failures.empty()) return 2;
      return has_finding_at(analysis.report, options.fail_on) ? 1 : 0;
    }
    case Command::packets:
      return print(
          [&](Sink& out) { list_packets(options, *packet_format(options.format), out, progress); });
    case Command::cut: cut(options, progress); return 0;
    case Command::explain:
      return print([&](Sink& out) { explain(options.topic, terminal_style().width, out); });
    case Command::print: return print([&](Sink& out) { out.text(options.message); });
  }
  return 0;
}

}  // namespace
}  // namespace rocetrace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is noticed where it is written to
  try {
    return rocetrace::run(rocetrace::find_captures(rocetrace::parse_options(argc, argv)));
  } catch (const rocetrace::PipeClosed&) {
    return 0;  // a listing may be read in part
  } catch (const std::exception& error) {
    rocetrace::complain(error.what());
    return 2;
  }
}
