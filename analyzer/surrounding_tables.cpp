// SPDX-License-Identifier: BSD-3-Clause
#include "surrounding_tables.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "roce/opcode.hpp"

namespace rocetrace {
namespace {

using roce::net::Address;

std::string text(const Address& address) {
  return std::string(address.text().view());
}

std::string mac_text(Mac mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac >> 40 & 0xff,
                     mac >> 32 & 0xff, mac >> 24 & 0xff, mac >> 16 & 0xff, mac >> 8 & 0xff,
                     mac & 0xff);
}

std::string opcode_text(u8 opcode) {
  const roce::OpcodeInfo& info = roce::opcode_info(opcode);
  if (!info.known()) return fmt::format("opcode {:#04x}", opcode);
  if (info.service == info.name) return std::string(info.name);
  return fmt::format("{} {}", info.service, info.name);
}

std::vector<std::string> hosts_of(const TraceState& state, Mac mac) {
  std::vector<std::string> hosts;
  for (const u32 id : state.surroundings.hosts_of(mac))
    hosts.push_back(text(state.decoder.addresses().address(id)));
  return hosts;
}

// The row's fields that say when.
template <class Row>
void fill_times(const Sighted& seen, Row& row) {
  row.first_frame = seen.first_frame;
  row.last_frame = seen.last_frame;
  row.first_time = {seen.first_time};
  row.last_time = {seen.last_time};
}

std::vector<IcmpErrorRow> icmp_rows(const TraceState& state) {
  std::vector<IcmpErrorRow> rows;
  for (const auto& [kind, errors] : state.surroundings.icmp_errors()) {
    IcmpErrorRow row;
    row.reporter = text(kind.reporter);
    row.error = roce::net::icmp_error_name(kind.is_v6, kind.type, kind.code);
    row.source = text(kind.source);
    row.destination = text(kind.destination);
    row.dest_qps = errors.dest_qps;
    if (errors.mtu != 0) row.mtu = errors.mtu;
    row.packets = errors.seen.count;
    fill_times(errors.seen, row);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &IcmpErrorRow::packets);
  return rows;
}

std::vector<PauseRow> pause_rows(const TraceState& state) {
  u64 begin = ~u64{0}, end = 0;
  for (std::size_t i = 0; i < state.trace.size(); i++) {
    const CaptureInfo& info = state.trace.info(i);
    begin = std::min(begin, info.first_time.value_or(begin));
    end = std::max(end, info.last_time.value_or(end));
  }
  const u64 duration = end - std::min(begin, end);
  std::vector<PauseRow> rows;
  for (const auto& [key, pauses] : state.surroundings.pauses()) {
    const auto& [mac, priority] = key;
    PauseRow row;
    row.mac = mac_text(mac);
    row.hosts = hosts_of(state, mac);
    if (priority != Surroundings::kAllPriorities) row.priority = priority;
    row.frames = pauses.meter.frames();
    row.stops = pauses.meter.stops();
    row.paused_ns = pauses.meter.paused();
    row.longest_ns = pauses.meter.longest();
    if (duration > 0)
      row.paused_share =
          std::min(1.0, static_cast<double>(row.paused_ns) / static_cast<double>(duration));
    row.gigabits_assumed = state.surroundings.gigabits();
    fill_times(pauses.seen, row);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater{}, &PauseRow::paused_ns);
  return rows;
}

std::vector<u32> priorities_in(u8 bits) {
  std::vector<u32> list;
  for (u32 priority = 0; priority < 8; priority++)
    if (bits >> priority & 1) list.push_back(priority);
  return list;
}

DcbxRow dcbx_row(const Surroundings::Port& port) {
  DcbxRow row;
  row.system = port.system;
  row.port = port.port;
  row.version = port.is_cee ? "cee" : "ieee";
  if (port.pfc) {
    row.lossless_priorities = priorities_in(port.pfc->enabled);
    row.pfc_willing = port.pfc->willing;
  }
  if (port.ets) {
    row.class_of_priority.assign(port.ets->group.begin(), port.ets->group.end());
    row.bandwidth_of_class.assign(port.ets->bandwidth.begin(), port.ets->bandwidth.end());
  }
  u8 for_roce = 0;
  for (const roce::ApplicationPriority& one : port.applications) {
    if (one.is_for_roce()) for_roce = static_cast<u8>(for_roce | 1u << (one.priority & 7));
    if (one.selector == roce::Selector::dscp)
      row.dscp_priorities.push_back(fmt::format("{}:{}", one.value, one.priority));
  }
  row.roce_priorities = priorities_in(for_roce);
  row.frames = port.frames;
  row.changes = port.changes;
  return row;
}

std::vector<DcbxRow> dcbx_rows(const TraceState& state) {
  std::vector<DcbxRow> rows;
  for (const auto& [mac, port] : state.surroundings.ports()) {
    rows.push_back(dcbx_row(port));
    rows.back().mac = mac_text(mac);
    rows.back().hosts = hosts_of(state, mac);
  }
  return rows;
}

std::vector<SampleRow> sample_rows(const Surroundings& surroundings) {
  constexpr Word kEcnWords[] = {"not_ect", "ect1", "ect0", "ce"};
  const auto& addresses = surroundings.sampled_addresses();
  std::vector<SampleRow> rows;
  for (const auto& [kind, samples] : surroundings.samples())
    rows.push_back({.source = text(addresses.address(kind.source)),
                    .destination = text(addresses.address(kind.destination)),
                    .dest_qp = kind.dest_qp,
                    .opcode = opcode_text(kind.opcode),
                    .ecn = kEcnWords[kind.ecn & 3],
                    .samples = samples.count,
                    .estimated_packets = samples.packets});
  std::ranges::stable_sort(rows, std::ranges::greater{}, &SampleRow::samples);
  return rows;
}

}  // namespace

void tell_surroundings(const TraceState& state, Report& report) {
  report.icmp_errors = icmp_rows(state);
  report.pauses = pause_rows(state);
  report.dcbx = dcbx_rows(state);
  report.samples = sample_rows(state.surroundings);
}

}  // namespace rocetrace
