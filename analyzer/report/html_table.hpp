// SPDX-License-Identifier: BSD-3-Clause
// The rows of the page's table: connections, and half-flows without a partner.

#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "report/ranking.hpp"
#include "report/report.hpp"

namespace rocetrace {

class Sink;

/// Median and 99th percentile of a distribution in nanoseconds, if there is one.
struct Typical {
  bool known = false;
  u64 p50 = 0;
  u64 p99 = 0;
};

/// One row; what its two sides count is added up.
struct PageRow {
  u64 connection = 0;  // id; 0: none
  std::array<u64, 2> half_flows{};
  Trouble trouble;                  // of the worse side
  u32 source = 0, destination = 0;  // in PageTable::addresses()
  u32 source_qp = 0, dest_qp = 0;
  bool source_qp_known = false;
  Word service;
  u64 packets = 0, bytes = 0, resent = 0, missing = 0, naks = 0, fatal = 0, rnr = 0, cnps = 0;
  u64 ce = 0, capable = 0;  // packets: marked, and able to carry a mark
  u64 begin = 0, end = 0;   // nanoseconds since 1970
  Typical ack, read, message;
};

class PageTable {
 public:
  explicit PageTable(const Report& report);

  /// Members of a JSON object; times in nanoseconds from `origin`.
  void write(Sink& out, u64 origin) const;

  /// Rows at most; the worst are kept. Further ones are in every other format.
  static constexpr std::size_t kRows = 20'000;

 private:
  u32 address(const std::string& text);
  void add(PageRow& row, const HalfFlowRow& half_flow);

  std::vector<PageRow> rows_;  // worst first
  std::vector<std::string> addresses_;
  std::unordered_map<std::string, u32> address_ids_;
  std::size_t all_ = 0;
};

}  // namespace rocetrace
