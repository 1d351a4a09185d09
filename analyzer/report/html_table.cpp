// SPDX-License-Identifier: BSD-3-Clause
// Rows as arrays, addresses as indices: ten thousand connections stay small. See html_table.hpp.

#include "report/html_table.hpp"

#include <algorithm>

#include "report/json_value.hpp"

namespace rocetrace {
namespace {

Typical typical(const MaybeDistribution& times) {
  if (!times) return {};
  return {true, times->p50, times->p99};
}

bool worse(const PageRow& a, const PageRow& b) {
  const auto order = a.trouble <=> b.trouble;
  return order > 0 || (!(order < 0) && a.half_flows[0] < b.half_flows[0]);
}

// In the order in which the script reads them.
void write_row(Sink& out, const PageRow& row, u64 origin) {
  const auto number = [&](u64 value) {
    out.put(',');
    out.number(value);
  };
  const auto pair = [&](const Typical& times) {
    if (!times.known) return out.text(",null,null");
    number(times.p50);
    number(times.p99);
  };
  out.print("[{}", row.connection);
  number(row.half_flows[0]);
  number(row.half_flows[1]);
  number(static_cast<u64>(row.trouble.kind));
  number(row.source);
  row.source_qp_known ? number(row.source_qp) : out.text(",null");
  number(row.destination);
  number(row.dest_qp);
  out.print(",\"{}\"", row.service);
  for (const u64 value :
       {row.packets, row.bytes, row.resent, row.missing, row.naks, row.fatal, row.rnr, row.cnps,
        row.ce, row.capable, row.begin - std::min(origin, row.begin), row.end - row.begin})
    number(value);
  pair(row.ack);
  pair(row.read);
  pair(row.message);
  out.put(']');
}

}  // namespace

PageTable::PageTable(const Report& report) {
  std::unordered_map<u64, std::size_t> row_of;
  report.connections.each([&](const ConnectionRow& connection) {
    for (const std::optional<u64>& id : connection.half_flows)
      if (id) row_of[*id] = rows_.size();
    PageRow& row = rows_.emplace_back();
    row.connection = connection.id;
    row.ack = typical(connection.ack_latency);
    row.read = typical(connection.read_latency);
    row.message = typical(connection.message_time);
  });
  report.half_flows.each([&](const HalfFlowRow& half_flow) {
    const auto known = row_of.find(half_flow.id);
    add(known != row_of.end() ? rows_[known->second] : rows_.emplace_back(), half_flow);
  });
  // A connection whose half-flows went over to a later one has nothing of its own to show.
  std::erase_if(rows_, [](const PageRow& row) { return row.half_flows[0] == 0; });
  all_ = rows_.size();
  std::ranges::sort(rows_, worse);
  if (rows_.size() > kRows) rows_.resize(kRows);
}

u32 PageTable::address(const std::string& text) {
  const auto [at, is_new] = address_ids_.try_emplace(text, static_cast<u32>(addresses_.size()));
  if (is_new) addresses_.push_back(text);
  return at->second;
}

void PageTable::add(PageRow& row, const HalfFlowRow& half_flow) {
  if (row.half_flows[0] == 0) {
    row.half_flows[0] = half_flow.id;
    row.source = address(half_flow.source);
    row.destination = address(half_flow.destination);
    row.dest_qp = half_flow.dest_qp;
    row.service = half_flow.service;
    row.begin = half_flow.first_time.ns;
  } else {
    row.half_flows[1] = half_flow.id;
    row.source_qp = half_flow.dest_qp;
    row.source_qp_known = true;
  }
  row.trouble = std::max(row.trouble, trouble_of(half_flow));
  row.begin = std::min(row.begin, half_flow.first_time.ns);
  row.end = std::max(row.end, half_flow.last_time.ns);
  row.packets += half_flow.packets;
  row.bytes += half_flow.wire_bytes;
  row.resent += half_flow.requests.retransmissions.value_or(0) +
                half_flow.responses.retransmissions.value_or(0);
  row.missing +=
      half_flow.requests.missing_psns.value_or(0) + half_flow.responses.missing_psns.value_or(0);
  row.naks += half_flow.responses.naks.sequence;
  row.fatal += half_flow.responses.naks.fatal();
  row.rnr += half_flow.responses.rnr_naks;
  row.cnps += half_flow.cnp.packets;
  row.ce += half_flow.ecn.ce;
  row.capable += half_flow.ecn.ce + half_flow.ecn.ect0 + half_flow.ecn.ect1;
}

void PageTable::write(Sink& out, u64 origin) const {
  out.print("\"all_rows\":{},\"addresses\":", all_);
  json::write(out, addresses_);
  out.text(",\n\"rows\":[");
  bool first = true;
  for (const PageRow& row : rows_) {
    out.text(first ? "\n" : ",\n");
    first = false;
    write_row(out, row, origin);
  }
  out.text("]");
}

}  // namespace rocetrace
