// SPDX-License-Identifier: BSD-3-Clause
// The command line. The only file that knows CLI11.

#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "report/formats.hpp"
#include "report/packet_row.hpp"
#include "report/severity.hpp"
#include "roce/net/address_prefix.hpp"

#ifndef ROCETRACE_VERSION
#define ROCETRACE_VERSION "development"
#endif

namespace rocetrace {
namespace {

constexpr char kExamples[] = R"(Examples:
  rocetrace analyze trace.pcap                      which QP lost what, worst first
  rocetrace analyze rx.pcapng -o rx.json -o rx.csv  the same, and files for programs
  rocetrace analyze tor1.pcap tor2.pcap --qp 0x11   several captures as one trace, one QP
  rocetrace analyze trace.pcap --fail-on error      exit 1 when an error is found
  tcpdump -r big.pcap -w - | rocetrace analyze -    from standard input
  rocetrace packets trace.pcap --format csv         one line per RoCE packet
  rocetrace cut ring/ --to +10s -o start.pcapng     a part, as a capture of its own
  rocetrace explain spurious                        what a word of the report means

Exit status: 0 done, 1 as --fail-on asked, 2 the run failed.)";

constexpr char kAnalyzeExamples[] = R"(Examples:
  rocetrace analyze trace.pcap --format json | jq '.totals'
  rocetrace analyze trace.pcap -o report.json -o report.csv
  rocetrace analyze ring-*.pcapng --filter 'host 10.0.0.1' --qp 0x11

Several captures are one trace in time order. A damaged capture is reported, not refused.
Exit status: 0 done, 1 as --fail-on asked, 2 the run failed.)";

constexpr char kPacketsExamples[] = R"(Examples:
  rocetrace packets trace.pcap --qp 0x11
  rocetrace packets trace.pcap --format ndjson | jq 'select(.class == "retransmission")')";

constexpr char kCutExamples[] = R"(Examples:
  rocetrace cut ring/ --from 2024-05-06T07:08:09Z --to 2024-05-06T07:08:11Z -o moment.pcapng
  rocetrace cut trace.pcap --qp 0x11 -o qp.pcapng
  rocetrace cut a.pcap b.pcap --filter 'host 10.0.0.1' -o host.pcapng

With --qp or --host: RoCE packets only, both directions, and how their connections were set up.)";

std::string formats_text() {
  std::string text = "format of standard output:";
  for (const ReportFormat& format : kFormats)
    if (report_format(format.name)) text += fmt::format("\n  {:<7} {}", format.name, format.what);
  return text;
}

std::string extensions() {
  std::string names;
  for (const ReportFormat& format : kFormats)
    names += fmt::format("{}{}", names.empty() ? "" : " ", format.extension);
  return names;
}

// Throws what CLI11 throws for a value that is not one.
roce::u64 number(const std::string& option, const std::string& text, roce::u64 least,
                 roce::u64 most) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const char* begin = text.data() + (hexadecimal ? 2 : 0);
  const char* end = text.data() + text.size();
  roce::u64 value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || stop != end || value < least || value > most) {
    throw CLI::ValidationError{
        fmt::format("{}: '{}' is not a number from {} to {}", option, text, least, most)};
  }
  return value;
}

using Check = std::function<void(const std::string& text)>;

// An option that may come any number of times, with one value each time.
CLI::Option* repeatable(CLI::App& command, const std::string& names, const std::string& value,
                        const Check& take, const std::string& description) {
  return command.add_option_function<std::string>(names, take, description)
      ->type_name(value)
      ->trigger_on_parse();
}

// Refuses what `known` does not know.
CLI::Option* one_of(CLI::App& command, const std::string& name, std::string& chosen,
                    bool (*known)(const std::string& text), const std::string& description) {
  return command
      .add_option_function<std::string>(
          name,
          [name, known, &chosen](const std::string& text) {
            if (!known(text))
              throw CLI::ValidationError{fmt::format("{}: '{}' is none of its values", name, text)};
            chosen = text;
          },
          description)
      ->type_name("NAME");
}

void add_captures(CLI::App& command, Options& options) {
  command
      .add_option("CAPTURE", options.captures,
                  "pcap or pcapng files, directories of them, patterns ('ring*');\n"
                  "- is standard input")
      ->required()
      ->type_name("");
}

void add_selection(CLI::App& command, Options& options) {
  command.add_option("--filter", options.filter, "a pcap filter applied to the captured frames")
      ->type_name("BPF");
  repeatable(
      command, "--qp", "N",
      [&options](const std::string& text) {
        options.qps.push_back(static_cast<roce::u32>(number("--qp", text, 0, 0xffffff)));
      },
      "keep only this QP; repeatable; decimal or 0x");
  repeatable(
      command, "--host", "ADDR",
      [&options](const std::string& text) {
        if (!roce::net::parse_prefix(text))
          throw CLI::ValidationError{fmt::format("--host: '{}' is no address or GID", text)};
        options.hosts.push_back(text);
      },
      "keep only packets from or to this address, GID or\nprefix (10.0.0.0/24); repeatable");
  repeatable(
      command, "--vlan", "ID",
      [&options](const std::string& text) {
        options.vlans.push_back(static_cast<roce::u32>(number("--vlan", text, 0, 4095)));
      },
      "keep only frames with this VLAN tag; repeatable");
  const auto instant = [&command](const char* name, std::optional<Instant>& out,
                                  const std::string& description) {
    command
        .add_option_function<std::string>(
            name,
            [name, &out](const std::string& text) {
              out = parse_instant(text);
              if (!out)
                throw CLI::ValidationError{
                    fmt::format("{}: '{}' is no time such as 2024-05-06T07:08:09.5Z, "
                                "1714979289.5, or +1.5s",
                                name, text)};
            },
            description)
        ->type_name("TIME");
  };
  instant("--from", options.from,
          "keep only frames from then on: 2024-05-06T07:08:09Z,\nseconds since 1970, or +1.5s "
          "after the first packet");
  instant("--to", options.to, "keep only frames up to then");
}

void add_work(CLI::App& command, Options& options) {
  command
      .add_option_function<std::string>(
          "--threads",
          [&options](const std::string& text) {
            options.threads = static_cast<unsigned>(number("--threads", text, 1, 1024));
          },
          "threads to work with (default: as many as the machine has)")
      ->type_name("N");
  command
      .add_option_function<std::string>(
          "--max-flows",
          [&options](const std::string& text) {
            options.max_flows = number("--max-flows", text, 1, roce::u64{1} << 32);
          },
          "half-flows to follow; packets of further ones are only counted")
      ->type_name("N");
  command.add_flag_callback(
      "--no-progress", [&options] { options.progress = false; }, "no progress bar");
}

void add_judgement(CLI::App& command, Options& options) {
  command.add_flag_callback(
      "--time-bins", [&options] { options.time_bins = true; },
      "rates and counts over time for each half-flow, too, not only for all together\n"
      "(json, ndjson, sqlite)");
  repeatable(
      command, "--set", "KEY=VALUE",
      [&options](const std::string& text) { options.settings.push_back(text); },
      "change a threshold: --set loss.retransmission.warning=0.1%; repeatable;\n"
      "rocetrace explain thresholds lists them");
  command.add_option("--config", options.config, "a file of such lines; --set wins over it")
      ->type_name("FILE");
  repeatable(
      command, "--lossless-dscp", "N",
      [&options](const std::string& text) {
        options.lossless_dscps.push_back(
            static_cast<roce::u32>(number("--lossless-dscp", text, 0, 63)));
      },
      "a class in which nothing may be lost; repeatable");
  CLI::Option* before =
      command
          .add_option("--counters-before", options.counters_before,
                      "a NIC's counters before the capture, as 'rdma statistic show',\n"
                      "'ethtool -S' or 'grep . hw_counters/*' prints them")
          ->type_name("FILE");
  CLI::Option* after = command
                           .add_option("--counters-after", options.counters_after,
                                       "and after it: compared with what the trace shows")
                           ->type_name("FILE")
                           ->needs(before);
  before->needs(after);
  repeatable(
      command, "--counters-host", "ADDR",
      [&options](const std::string& text) { options.counter_hosts.push_back(text); },
      "the address of the NIC's host, where the counts do not tell;\n"
      "repeatable for a host of several")
      ->needs(before);
  const auto prefix = [&command](const char* name, unsigned& bits, roce::u64 most) {
    command
        .add_option_function<std::string>(
            name,
            [name, &bits, most](const std::string& text) {
              bits = static_cast<unsigned>(number(name, text, 0, most));
            },
            fmt::format("bits of an address that name its subnet (default: {})", bits))
        ->type_name("BITS");
  };
  prefix("--subnet-prefix", options.ipv4_prefix, 32);
  prefix("--subnet-prefix6", options.ipv6_prefix, 128);
}

void add_analyze(CLI::App& program, Options& options) {
  CLI::App& command = *program.add_subcommand(
      "analyze", "QP flows, what each lost and sent again, CNPs and ECN marks");
  command.footer(kAnalyzeExamples);
  add_captures(command, options);
  repeatable(
      command, "-o,--output", "FILE",
      [&options](const std::string& path) {
        if (!format_of_file(path))
          throw CLI::ValidationError{
              fmt::format("{}: an output file ends in one of {}", path, extensions())};
        options.outputs.push_back(path);
      },
      "also write FILE; repeatable; its extension is its format:\n" + extensions());
  one_of(
      command, "--format", options.format,
      [](const std::string& name) { return report_format(name) != nullptr; }, formats_text());
  one_of(
      command, "--color", options.colour,
      [](const std::string& name) { return name == "auto" || name == "always" || name == "never"; },
      "colours in the text: always, never or auto (default): on a\n"
      "terminal, unless NO_COLOR is set");
  one_of(
      command, "--fail-on", options.fail_on,
      [](const std::string& name) {
        return std::ranges::find(kSeverities, name) != std::end(kSeverities);
      },
      "exit 1 when a finding of this severity or above is made:\ninfo, warning or error "
      "(default: never)");
  add_judgement(command, options);
  add_selection(command, options);
  add_work(command, options);
  command.callback([&options] { options.command = Command::analyze; });
}

void add_packets(CLI::App& program, Options& options) {
  CLI::App& command =
      *program.add_subcommand("packets", "one line per RoCE packet, with what it did to its flow");
  command.footer(kPacketsExamples);
  add_captures(command, options);
  one_of(
      command, "--format", options.format,
      [](const std::string& name) { return packet_format(name) != nullptr; },
      "text, ndjson or csv");
  add_selection(command, options);
  add_work(command, options);
  command.callback([&options] { options.command = Command::packets; });
}

void add_cut(CLI::App& program, Options& options) {
  CLI::App& command =
      *program.add_subcommand("cut", "write a part of the captures as a pcapng file");
  command.footer(kCutExamples);
  add_captures(command, options);
  command
      .add_option_function<std::string>(
          "-o,--output",
          [&options](const std::string& path) {
            if (!path.ends_with(".pcapng"))
              throw CLI::ValidationError{fmt::format("{}: what cut writes ends in .pcapng", path)};
            options.outputs = {path};
          },
          "the file to write")
      ->required()
      ->type_name("FILE");
  add_selection(command, options);
  add_work(command, options);
  command.callback([&options] { options.command = Command::cut; });
}

void add_explain(CLI::App& program, Options& options) {
  CLI::App& command = *program.add_subcommand(
      "explain", "what a word of the report means, how it is judged, what to do next");
  command.footer("Without ID, all words are listed.");
  command.add_option("ID", options.topic, "a class, cause, place, ...")->type_name("");
  command.callback([&options] { options.command = Command::explain; });
}

std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

// CLI11 says of an unknown command only that there has to be one.
bool knows_command(const CLI::App& program, std::string_view name) {
  return std::ranges::any_of(program.get_subcommands([](const CLI::App*) { return true; }),
                             [&](const CLI::App* command) { return command->get_name() == name; });
}

}  // namespace

Options parse_options(int argc, const char* const* argv) {
  Options options;
  CLI::App program{
      "rocetrace reads captures of RDMA over Converged Ethernet and tells which QP lost what."};
  program.name("rocetrace");
  program.set_version_flag("--version", "rocetrace " ROCETRACE_VERSION);
  program.require_subcommand(1);
  program.footer(kExamples);
  program.get_formatter()->column_width(26);
  add_analyze(program, options);
  add_packets(program, options);
  add_cut(program, options);
  add_explain(program, options);
  try {
    if (argc > 1 && argv[1][0] != '-' && !knows_command(program, argv[1]))
      throw CLI::ValidationError{fmt::format("'{}' is no command", argv[1])};
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.message = program.help();
    options.command = Command::print;
  } catch (const CLI::CallForAllHelp&) {
    options.message = program.help("", CLI::AppFormatMode::All);
    options.command = Command::print;
  } catch (const CLI::CallForVersion& version) {
    options.message = std::string{version.what()} + "\n";
    options.command = Command::print;
  } catch (const CLI::ParseError& error) {
    throw std::runtime_error{one_line(error.what()) + " (see rocetrace --help)"};
  }
  return options;
}

}  // namespace rocetrace
