// SPDX-License-Identifier: BSD-3-Clause
// What the user asked for.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "instant.hpp"
#include "roce/wire/bytes.hpp"

namespace rocetrace {

enum class Command : roce::u8 { print, analyze, packets, cut, explain };

struct Options {
  Command command = Command::print;
  std::string message;                     // for `print`: help or version, to standard output
  std::vector<std::string> captures;       // files, directories, patterns; "-" is standard input
  std::vector<std::string> outputs;        // files to write; each extension names a format
  std::string format = "text";             // of standard output; a name in the tables of formats
  std::string colour = "auto";             // of the text report: auto, always, never
  std::string filter;                      // a pcap filter; empty for none
  std::vector<roce::u32> qps;              // keep only these; empty for all; 24 bits each
  std::vector<std::string> hosts;          // keep only these addresses or prefixes; empty for all
  std::vector<roce::u32> vlans;            // keep only frames with such a tag; empty for all
  std::optional<Instant> from, to;         // keep only frames in this time, ends included
  std::string fail_on;                     // exit 1 at findings of this severity; empty for never
  unsigned threads = 0;                    // 0: as many as the machine has
  std::optional<roce::u64> max_flows;      // half-flows to follow; > 0
  bool time_bins = false;                  // rows per bin of time for each half-flow, too
  bool progress = true;                    // as far as standard error is a terminal
  std::string topic;                       // for `explain`; empty for the list
  std::string config;                      // file of thresholds; empty for none
  std::vector<std::string> settings;       // thresholds, "key=value"; they win over the file's
  std::vector<roce::u32> lossless_dscps;   // classes that must not lose anything; 0..63
  std::string counters_before;             // file with a NIC's counters; both or none
  std::string counters_after;              //
  std::vector<std::string> counter_hosts;  // addresses of the host whose NIC it is
  unsigned ipv4_prefix = 24;               // bits of an address that name its subnet
  unsigned ipv6_prefix = 64;               //
};

/// Reads the command line. Help and version come back as Command::print.
/// Throws std::runtime_error, one line, for a bad command line.
Options parse_options(int argc, const char* const* argv);

}  // namespace rocetrace
