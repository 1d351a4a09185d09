// SPDX-License-Identifier: BSD-3-Clause
#include "judge.hpp"

#include <algorithm>
#include <map>

#include "limits.hpp"
#include "report/severity.hpp"
#include "ring_faults.hpp"
#include "roce/net/unopened.hpp"
#include "subnet_pairs.hpp"

namespace rocetrace {

using roce::flow::Arrival;
using roce::flow::Connection;
using roce::flow::Observation;

namespace {

constexpr std::size_t kMostSearches = 4096;

Circumstances circumstances_of(const Options& options) {
  Circumstances out;
  out.limits = limits_of(options);
  for (const u32 dscp : options.lossless_dscps) out.lossless_dscps.push_back(static_cast<u8>(dscp));
  out.subnet = {options.ipv4_prefix, options.ipv6_prefix};
  if (!options.counters_before.empty())
    out.counters = counted_between(read_counters(options.counters_before),
                                   read_counters(options.counters_after));
  out.counter_hosts = options.counter_hosts;
  out.part_only = !options.filter.empty() || !options.qps.empty() || !options.hosts.empty() ||
                  !options.vlans.empty() || options.from || options.to || options.max_flows;
  return out;
}

CaptureFacts facts_of(const CaptureInfo& info, const SightingCounts& counts) {
  CaptureFacts facts;
  facts.file = info.file;
  facts.packets = info.packets;
  facts.roce_packets = counts.roce;
  facts.not_roce_on_4791 = counts.not_roce_on_4791;
  facts.undecoded_packets = counts.undecoded;
  facts.truncated_packets = info.truncated_packets;
  facts.untimed_packets = info.untimed_packets;
  facts.equal_times = info.equal_times;
  facts.backward_times = info.backward_times;
  facts.largest_backward_ns = info.largest_backward_ns;
  facts.ethernet = std::ranges::count(info.link_types, 1) > 0;
  facts.cut_short = info.cut_short;
  facts.damages = info.damage_count;
  facts.damaged_bytes = info.damaged_bytes;
  for (const InterfaceInfo& interface : info.interfaces) {
    facts.tick_ns = std::max(facts.tick_ns, interface.tick_ns);
    for (const auto& dropped :
         {interface.dropped_by_interface, interface.dropped_by_os, interface.dropped_by_packet})
      if (dropped) facts.dropped_packets = facts.dropped_packets.value_or(0) + *dropped;
  }
  return facts;
}

std::vector<CaptureFacts> facts_of(const TraceState& state) {
  std::vector<CaptureFacts> all;
  for (std::size_t i = 0; i < state.trace.size(); i++) {
    all.push_back(facts_of(state.trace.info(i), state.decoder.counts(i)));
    all.back().mirror_missing = state.mirror_missing(i).value_or(0);
  }
  for (const RotationFault& fault : ring_faults(state)) {
    if (!fault.certain || fault.overlap_ns == 0) continue;
    all[fault.capture].overlap_ns = fault.overlap_ns;
    all[fault.capture].in_front = state.trace.info(fault.in_front).file;
  }
  return all;
}

FindingScope scope_of(const TraceState& state, const Finding& finding,
                      const std::map<u32, u64>& connection_rows) {
  const auto address = [&](u32 id) {
    return std::string(state.decoder.addresses().address(id).text().view());
  };
  FindingScope scope;
  switch (finding.scope.of) {
    case Scope::Of::capture:
      if (finding.scope.first < state.trace.size())
        scope.capture = state.trace.info(finding.scope.first).file;
      break;
    case Scope::Of::host: scope.host = address(finding.scope.first); break;
    case Scope::Of::hosts:
      scope.hosts = {{address(finding.scope.first), address(finding.scope.second)}};
      if (const auto to = finding.subnets.find(" to "); to != std::string::npos)
        scope.hosts = {{finding.subnets.substr(0, to), finding.subnets.substr(to + 4)}};
      break;
    case Scope::Of::half_flow: scope.half_flow = finding.scope.first; break;
    case Scope::Of::connection: {
      const auto row = connection_rows.find(finding.scope.first);
      if (row != connection_rows.end()) scope.connection = row->second;
      break;
    }
  }
  return scope;
}

FindingRow row_of(const TraceState& state, Finding finding,
                  const std::map<u32, u64>& connection_rows) {
  FindingRow row;
  row.id = finding.kind->id;
  row.severity = kSeverities[static_cast<std::size_t>(finding.severity)];
  row.scope = scope_of(state, finding, connection_rows);
  if (finding.seen.first_frame != 0) {
    row.first_frame = finding.seen.first_frame;
    row.last_frame = finding.seen.last_frame;
    row.first_time = Time{finding.seen.first_time};
    row.last_time = Time{finding.seen.last_time};
  }
  row.count = finding.seen.count;
  row.evidence = std::move(finding.evidence);
  row.text = std::move(finding.text);
  for (const std::string_view more : {finding.kind->means, finding.kind->next}) {
    row.text += ' ';
    row.text += more;
  }
  return row;
}

void grade(const std::vector<Distrust>& reasons, Report& report) {
  for (CaptureRow& capture : report.captures) capture.trust = Trust::high;
  for (const Distrust& reason : reasons) {
    if (reason.capture >= report.captures.size()) continue;
    CaptureRow& capture = report.captures[reason.capture];
    capture.trust = std::max(*capture.trust, reason.heavy ? Trust::low : Trust::limited);
    capture.trust_reasons.push_back(reason.why);
  }
}

// Connections are numbered in the report without those that turned out to be none.
std::map<u32, u64> connection_rows(const TraceState& state, std::span<const u32> selected) {
  std::map<u32, u64> rows;
  for (const Connection& connection : state.tracker.connections())
    if (!connection.broken && std::ranges::binary_search(selected, connection.flows[0])) {
      const u64 row = rows.size() + 1;
      rows[connection.id] = row;
    }
  return rows;
}

// Where a sample of the packets was captured, two taps without telling which packet is of which, or
// a ring's files with clocks of their own, sequence numbers tell nothing.
void withdraw_sequence_counts(Report& report) {
  report.totals.retransmissions.reset();
  report.totals.missing_psns.reset();
  for (TimeBinRow& row : report.time_bins) row.retransmissions.reset();
  for (SubnetPairRow& row : report.subnet_pairs) {
    row.retransmissions.reset();
    row.retransmission_share.reset();
    row.retransmissions_per_second.reset();
  }
  for (HostRow& host : report.hosts) {
    host.counters.out_of_sequence.reset();
    host.counters.duplicate_request.reset();
    host.counters.packet_seq_err.reset();
    host.counters.implied_nak_seq_err.reset();
    host.counters.local_ack_timeout_err.reset();
    host.counters.rnr_nak_retry_err.reset();
  }
  const std::size_t size = report.half_flows.size();
  report.half_flows = {
      size, [all = report.half_flows](std::size_t index, HalfFlowRow& row) {
        row = all.at(index);
        RequestSummary& requests = row.requests;
        for (auto* const count :
             {&requests.gaps, &requests.missing_psns, &requests.retransmissions,
              &requests.retransmitted_bytes, &requests.episodes, &requests.reordered,
              &requests.most_outstanding_psns, &row.responses.gaps, &row.responses.missing_psns,
              &row.responses.retransmissions})
          count->reset();
        requests.by_cause.reset();
        requests.by_place.reset();
        requests.stalls.reset();
      }};
}

// Of two clocks in one trace no time from packet to packet is left.
void withdraw_times(Report& report) {
  report.message_times.clear();
  for (HostRow& host : report.hosts) host.cnp_pacing.reset();
  for (SubnetPairRow& row : report.subnet_pairs) {
    row.ack_latency.reset();
    row.read_latency.reset();
  }
  const std::size_t size = report.connections.size();
  report.connections = {
      size, [all = report.connections](std::size_t index, ConnectionRow& row) {
        row = all.at(index);
        for (MaybeDistribution* const times :
             {&row.ack_latency, &row.read_latency, &row.read_first_latency, &row.message_time,
              &row.nak_generation, &row.nak_reaction, &row.rnr_wait, &row.ce_to_cnp})
          times->reset();
        if (row.cm) row.cm->reply_ns.reset();
      }};
}

}  // namespace

Judge::Judge(const Options& options)
    : circumstances_(circumstances_of(options)), investigation_(circumstances_) {}

void Judge::look(const TraceState& state, std::span<const Observation> packets,
                 std::span<const Arrival> arrivals) {
  const FrameBatch& batch = state.frames;
  auto other = state.decoder.others().begin();
  const auto others_end = state.decoder.others().end();
  for (std::size_t i = 0; i < packets.size(); i++) {
    for (; other != others_end && batch[*other].number < packets[i].frame; ++other)
      look_at(batch[*other]);
    if (packets[i].has(roce::flow::kCopy)) continue;
    const bool unseen = is_plain(packets[i], arrivals[i]) && arrivals[i].flow <= known_flows_ &&
                        ++unshown_ < kSampling;
    if (unseen && !investigation_.wants_all()) [[likely]]
      continue;
    look_at(state, packets[i], arrivals[i]);
    if (!unseen) unshown_ = 0;
  }
  for (; other != others_end; ++other) look_at(batch[*other]);
  known_flows_ = static_cast<u32>(state.tracker.flows().size());
}

void Judge::look_at(const TraceState& state, const Observation& packet, const Arrival& arrival) {
  const Frame& frame = *std::ranges::lower_bound(state.frames, packet.frame, {}, &Frame::number);
  Event event{.packet = packet,
              .arrival = arrival,
              .tracker = state.tracker,
              .bytes = frame.bytes,
              .link_type = frame.link_type,
              .wire_size = frame.wire_size,
              .capture = frame.capture};
  const roce::Syndrome syndrome(packet.syndrome());
  if (syndrome.is_nak() && syndrome.nak_code() != roce::NakCode::sequence && arrival.flow != 0 &&
      searches_ < kMostSearches) {
    searches_++;
    const u32 asker = state.tracker.flows().at(arrival.flow).partner;
    const u32 qp = asker != 0 ? state.tracker.flows().at(asker).key.dest_qp() : 0;
    event.offending = state.decoder.requests().asked_by(packet, qp);
  }
  investigation_.on_packet(event);
}

void Judge::look_at(const Frame& frame) {
  roce::net::Path path;
  const auto at = roce::net::walk_to_unopened(frame.bytes, frame.wire_size, frame.link_type, path);
  investigation_.on_frame({.number = frame.number,
                           .time = frame.time,
                           .capture = frame.capture,
                           .interface = frame.interface,
                           .link_type = frame.link_type,
                           .bytes = frame.bytes,
                           .path = path,
                           .at = at});
}

void Judge::conclude(const TraceState& state, std::span<const u32> selected, Report& report) {
  const std::vector<CaptureFacts> facts = facts_of(state);
  u64 begin = ~u64{0}, end = 0;
  for (std::size_t i = 0; i < state.trace.size(); i++) {
    const CaptureInfo& info = state.trace.info(i);
    begin = std::min(begin, info.first_time.value_or(begin));
    end = std::max(end, info.last_time.value_or(end));
  }
  begin = std::min(begin, end);
  const bool shuffled =
      std::ranges::any_of(facts, [](const CaptureFacts& one) { return one.overlap_ns > 0; });
  Findings findings = investigation_.conclude({.tracker = state.tracker,
                                               .addresses = state.decoder.addresses(),
                                               .circumstances = circumstances_,
                                               .logs = investigation_.logs(),
                                               .speakers = investigation_.speakers(),
                                               .captures = facts,
                                               .half_flows = selected,
                                               .begin = begin,
                                               .end = end,
                                               .mixed_ns = state.taps.mixed_ns(),
                                               .shuffled = shuffled});
  grade(findings.distrust, report);
  report.subnet_pairs = subnet_pairs(state, selected, circumstances_.subnet);
  if (findings.unordered) withdraw_sequence_counts(report);
  if (state.taps.mixed_ns() || shuffled) withdraw_times(report);
  const std::map<u32, u64> rows = connection_rows(state, selected);
  for (Finding& finding : findings.found)
    report.findings.push_back(row_of(state, std::move(finding), rows));
  for (Unjudged& one : findings.unjudged)
    report.could_not_judge.push_back({std::string(one.id), std::move(one.why)});
}

}  // namespace rocetrace
