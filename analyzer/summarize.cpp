// SPDX-License-Identifier: BSD-3-Clause
#include "summarize.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host_rows.hpp"
#include "ring_faults.hpp"
#include "selected_flows.hpp"
#include "surrounding_tables.hpp"
#include "time_bin_rows.hpp"

namespace rocetrace {

using roce::flow::Cause;
using roce::flow::Connection;
using roce::flow::HalfFlow;
using roce::flow::Histogram;
using roce::flow::Place;
using roce::flow::RareState;
using roce::flow::Times;
using roce::flow::TroubleCounts;
using roce::flow::Verb;

namespace {

MaybeDistribution distribution(const Histogram& histogram) {
  if (histogram.count() == 0) return std::nullopt;
  const roce::flow::Quantiles q = histogram.quantiles();
  return Distribution{q.count, q.min, q.p50, q.p90, q.p99, q.max, q.mean};
}

MaybeDistribution distribution(const Connection& connection, Times which) {
  const std::unique_ptr<Histogram>& histogram = connection.slot(which);
  return histogram ? distribution(*histogram) : std::nullopt;
}

Word service_name(u8 service) {
  constexpr std::array<Word, 8> kNames = {"RC", "UC", "RD", "UD", "", "XRC", "", ""};
  return kNames[service & 7];
}

CauseCounts causes(const TroubleCounts& counts) {
  const auto of = [&](Cause cause) { return counts.by_cause[static_cast<std::size_t>(cause)]; };
  return {.nak_sequence = of(Cause::nak_sequence),
          .rnr_nak = of(Cause::rnr_nak),
          .implied_nak = of(Cause::implied_nak),
          .selective = of(Cause::selective),
          .timeout = of(Cause::timeout),
          .unknown = of(Cause::unknown)};
}

PlaceCounts places(const TroubleCounts& counts) {
  const auto of = [&](Place place) { return counts.by_place[static_cast<std::size_t>(place)]; };
  return {.downstream = of(Place::downstream),
          .upstream = of(Place::upstream),
          .response = of(Place::response),
          .spurious = of(Place::spurious),
          .not_ready = of(Place::not_ready),
          .ambiguous = of(Place::ambiguous)};
}

std::optional<StallSummary> stalls_of(const roce::flow::Stalls& stalls) {
  if (stalls.count == 0) return std::nullopt;
  return StallSummary{.count = stalls.count,
                      .total_ns = stalls.total,
                      .longest_ns = stalls.longest,
                      .longest_from = Time{stalls.longest_from},
                      .ended_by_resend = stalls.ended_by_resend,
                      .ended_by_response = stalls.ended_by_response,
                      .ended_by_request = stalls.ended_by_request};
}

RequestSummary requests_of(const HalfFlow& flow) {
  const TroubleCounts trouble = flow.requests.trouble_counts();
  RequestSummary row;
  row.packets = flow.requests.packets();
  row.messages = flow.requests.messages();
  if (row.packets > 0) {
    row.first_psn = flow.requests.first().value();
    row.last_psn = (flow.requests.next() - 1u).value();
  }
  row.gaps = trouble.gaps;
  row.missing_psns = trouble.missing_psns;
  row.retransmissions = trouble.retransmissions;
  row.retransmitted_bytes = trouble.retransmitted_bytes;
  row.episodes = trouble.episodes;
  row.by_cause = causes(trouble);
  row.by_place = places(trouble);
  row.reordered = trouble.reordered;
  row.duplicate_captures = trouble.duplicate_captures;
  row.stale = trouble.stale;
  row.capture_missed_psns = trouble.capture_missed_psns;
  if (flow.requests.acknowledged_any()) row.most_outstanding_psns = flow.requests.most_outstanding;
  if (flow.verbs[static_cast<std::size_t>(Verb::read)] > 0)
    row.most_outstanding_reads = flow.most_reads_outstanding;
  const RareState* rare = flow.rare_state.get();
  if (!rare) return row;
  if (flow.service == static_cast<u8>(roce::Service::uc))
    row.messages_lost = rare->uc_messages_lost;
  if (trouble.by_cause[static_cast<std::size_t>(Cause::rnr_nak)] > 0) {
    row.rnr_wait_ns = rare->rnr_wait;
    row.rnr_timer_ignored = rare->rnr_early;
  }
  row.stalls = stalls_of(rare->stalls);
  return row;
}

ResponseSummary responses_of(const HalfFlow& flow) {
  const roce::flow::ResponseCounts& counts = flow.responses.counts();
  ResponseSummary row;
  row.packets = counts.packets;
  row.acks = counts.acks;
  if (const RareState* rare = flow.rare_state.get()) {
    row.naks = {.sequence = rare->naks[0],
                .invalid_request = rare->naks[1],
                .remote_access = rare->naks[2],
                .remote_operational = rare->naks[3]};
    row.rnr_naks = rare->rnr_naks;
    row.atomic_acks = rare->atomic_acks;
    row.duplicate_captures = rare->response_duplicate_captures;
  }
  row.read_responses = counts.read_responses;
  const roce::flow::ResponseGaps* gaps = flow.responses.gaps();
  row.gaps = gaps ? gaps->gaps : 0;
  row.missing_psns = gaps ? gaps->missing_psns : 0;
  row.reordered = gaps ? gaps->reordered : 0;
  row.retransmissions = counts.retransmissions;
  return row;
}

// CE marks are counted apart, so the codepoint that their senders set is too high by them.
EcnCounts ecn_of(const HalfFlow& flow) {
  std::array<u64, 4> by_codepoint{};
  if (flow.rare_state)
    for (const auto& tos : flow.rare_state->tos) by_codepoint[tos.value & 3u] += tos.count;
  u64 marked = flow.ce_marked;
  for (const std::size_t codepoint : {2u, 1u, 0u}) {
    const u64 taken = std::min(marked, by_codepoint[codepoint]);
    by_codepoint[codepoint] -= taken;
    marked -= taken;
  }
  return {.not_ect = by_codepoint[0],
          .ect1 = by_codepoint[1],
          .ect0 = by_codepoint[2],
          .ce = flow.ce_marked};
}

void add_count(std::vector<ValueCount>& counts, u32 value, u64 count) {
  const auto known = std::ranges::find(counts, value, &ValueCount::value);
  if (known != counts.end()) {
    known->count += count;
  } else {
    counts.push_back({value, count});
  }
}

// DSCP, ECN, VLANs, source ports and CNPs.
void fill_markings(const HalfFlow& flow, HalfFlowRow& row) {
  row.source_ports.clear();
  row.dscp.clear();
  row.vlans.clear();
  row.pcp.clear();
  row.cnp = {};
  row.ecn = ecn_of(flow);
  const RareState* rare = flow.rare_state.get();
  if (!rare) return;
  for (const auto& port : rare->source_ports) row.source_ports.push_back(port.value);
  std::ranges::sort(row.source_ports);
  for (const auto& tos : rare->tos) add_count(row.dscp, tos.value >> 2, tos.count);
  std::ranges::sort(row.dscp, {}, &ValueCount::value);
  for (const auto& vlan : rare->vlans) {
    row.vlans.push_back(vlan.value & 0x0fff);
    add_count(row.pcp, vlan.value >> 13, vlan.count);
  }
  std::ranges::sort(row.pcp, {}, &ValueCount::value);
  std::ranges::sort(row.vlans);
  row.vlans.erase(std::unique(row.vlans.begin(), row.vlans.end()), row.vlans.end());
  row.cnp.packets = rare->cnp.packets;
  row.cnp.interval = distribution(rare->cnp.intervals);
  if (row.cnp.packets == 0 || flow.partner == 0) return;
  row.cnp.without_ce = rare->cnp.without_ce;
  row.cnp.ces_per_cnp = static_cast<double>(rare->cnp.ces) / static_cast<double>(row.cnp.packets);
  row.cnp.rate_cut = rare->cnp.rate_cut;
  row.cnp.rate_kept = rare->cnp.rate_kept;
}

void fill(const TraceState& state, u32 id, HalfFlowRow& row) {
  const HalfFlow& flow = state.tracker.flows().at(id);
  row.id = id;
  row.version = flow.key.version();
  row.source = state.decoder.addresses().address(flow.key.source).text().view();
  row.destination = state.decoder.addresses().address(flow.key.destination).text().view();
  row.dest_qp = flow.key.dest_qp();
  row.service = service_name(flow.service);
  row.packets = flow.packets();
  row.wire_bytes = flow.wire_bytes;
  row.payload_bytes = flow.payload_bytes;
  row.first_time = {flow.first_time};
  row.last_time = {flow.last_time};
  row.first_frame = flow.first_frame;
  row.last_frame = flow.last_frame;
  fill_markings(flow, row);
  row.requests = requests_of(flow);
  row.responses = responses_of(flow);
  row.icrc.good = flow.icrc_good;
  row.icrc.bad = flow.rare_state ? flow.rare_state->icrc_bad : 0;
  row.icrc.not_captured = row.packets - row.icrc.good - row.icrc.bad;
}

/// How the connection was set up; null if the trace does not show it.
const roce::flow::CmExchange* exchange_of(const TraceState& state, const Connection& connection) {
  if (connection.evidence != roce::flow::Evidence::cm) return nullptr;
  const auto& key = state.tracker.flows().at(connection.flows[0]).key;
  // The latest exchange that ended before the connection's packets, if a QP had several.
  const roce::flow::CmExchange* found = nullptr;
  for (const roce::flow::CmExchange& exchange : state.tracker.cm().all())
    if (exchange.replies > 0 && (exchange.forward() == key || exchange.backward() == key))
      found = &exchange;
  return found;
}

CmSummary summary_of(const roce::flow::CmExchange& exchange) {
  CmSummary row;
  row.service_id = exchange.service_id;
  if (exchange.ip) row.service_port = exchange.ip->destination_port;
  if (exchange.local_ack_timeout != 0)
    row.local_ack_timeout_ns = roce::ack_timeout_ns(exchange.local_ack_timeout);
  row.retry_count = exchange.retry_count;
  row.rnr_retry_count = exchange.rnr_retry_count;
  if (exchange.reply_time >= exchange.request_time)
    row.reply_ns = exchange.reply_time - exchange.request_time;
  if (exchange.disconnect_time != 0) row.disconnect_time = Time{exchange.disconnect_time};
  return row;
}

void fill(const TraceState& state, const Connection& connection, u64 id, ConnectionRow& row) {
  const roce::flow::FlowTable& flows = state.tracker.flows();
  row.id = id;
  row.half_flows = {connection.flows[0], connection.flows[1]};
  row.evidence = name(connection.evidence);
  row.confidence = connection.confidence();
  const roce::flow::CmExchange* exchange = exchange_of(state, connection);
  const u16 seen_mtu = flows.at(connection.flows[0]).requests.path_mtu;
  // Without a packet of that size, what the REQ offered.
  const u16 path_mtu = seen_mtu == 0 && exchange ? exchange->path_mtu : seen_mtu;
  row.path_mtu = path_mtu != 0 ? std::optional(path_mtu) : std::nullopt;
  row.ack_latency = distribution(connection, Times::ack);
  row.read_latency = distribution(connection, Times::read);
  row.message_time = distribution(connection, Times::message);
  row.nak_generation = distribution(connection, Times::nak_generation);
  row.nak_reaction = distribution(connection, Times::nak_reaction);
  row.read_first_latency = distribution(connection, Times::read_first);
  row.rnr_wait = distribution(connection, Times::rnr_wait);
  row.ce_to_cnp = distribution(connection, Times::ce_to_cnp);
  row.cm = exchange ? std::optional(summary_of(*exchange)) : std::nullopt;
}

CaptureRow capture_row(const CaptureInfo& info, const SightingCounts& counts) {
  CaptureRow row;
  row.file = info.file;
  row.format = info.format;
  for (const u16 type : info.link_types) row.link_types.push_back(link_type_name(type));
  row.packets = info.packets;
  row.wire_bytes = info.wire_bytes;
  row.roce_packets = counts.roce;
  row.not_roce_on_4791 = counts.not_roce_on_4791;
  row.truncated_packets = info.truncated_packets;
  row.undecoded_packets = counts.undecoded;
  if (info.first_time) row.first_time = Time{*info.first_time};
  if (info.last_time) row.last_time = Time{*info.last_time};
  row.cut_short = info.cut_short;
  if (!info.time_source.empty()) {
    row.notes.push_back(fmt::format(
        "Times are those of {} trailers, {:+.6f} s from the capture's own at the first packet.",
        info.time_source, static_cast<double>(info.time_offset_ns) * 1e-9));
  }
  for (const InterfaceInfo& interface : info.interfaces) {
    row.time_resolution_ns = std::max(row.time_resolution_ns.value_or(1), interface.tick_ns);
    for (const auto& dropped :
         {interface.dropped_by_interface, interface.dropped_by_os, interface.dropped_by_packet})
      if (dropped) row.dropped_packets = row.dropped_packets.value_or(0) + *dropped;
  }
  for (const Damage& damage : info.damages)
    row.damages.push_back({damage.offset, damage.skipped, damage.what});
  return row;
}

std::string tap_name(const TraceState& state, Tap tap) {
  const CaptureInfo& info = state.trace.info(tap.capture);
  if (info.interfaces.size() < 2 || tap.interface >= info.interfaces.size()) return info.file;
  const std::string& name = info.interfaces[tap.interface].name;
  return name.empty() ? fmt::format("interface {} of {}", tap.interface, info.file)
                      : fmt::format("interface {} ({}) of {}", tap.interface, name, info.file);
}

void note_copies(const TraceState& state, Report& report) {
  for (const Taps::Copies& copies : state.taps.copies()) {
    if (copies.packets == 0) continue;
    report.captures[copies.tap.capture].notes.push_back(fmt::format(
        "{} packets of {} are those that {} shows too, from another tap whose clock is {:+.6f} s "
        "off. They were captured twice, and are left out of all counts of flows.",
        copies.packets, tap_name(state, copies.tap), tap_name(state, copies.kept),
        static_cast<double>(copies.behind_ns) * 1e-9));
  }
}

void add(Totals& totals, const HalfFlow& flow) {
  const TroubleCounts trouble = flow.requests.trouble_counts();
  totals.half_flows++;
  totals.retransmissions = totals.retransmissions.value_or(0) + trouble.retransmissions;
  totals.missing_psns = totals.missing_psns.value_or(0) + trouble.missing_psns;
  totals.ce_marked += ecn_of(flow).ce;
  const RareState* rare = flow.rare_state.get();
  if (!rare) return;
  for (const u32 naks : rare->naks) totals.naks += naks;
  totals.rnr_naks += rare->rnr_naks;
  totals.cnps += rare->cnp.packets;
}

void add_message_times(const roce::flow::MessageTimes& times, Report& report) {
  constexpr std::array<Word, roce::flow::kVerbCount> kVerbs = {"send",   "write", "read",
                                                               "atomic", "flush", "atomic_write"};
  for (std::size_t verb = 0; verb < kVerbs.size(); verb++)
    for (std::size_t size = 0; size < roce::flow::MessageTimes::kSizeClasses; size++) {
      const auto time = distribution(times.of(static_cast<Verb>(verb), size));
      if (!time) continue;
      MessageTimeRow row{.verb = kVerbs[verb], .up_to_bytes = {}, .time = *time};
      if (size < roce::flow::MessageTimes::kUpTo.size())
        row.up_to_bytes = roce::flow::MessageTimes::kUpTo[size];
      report.message_times.push_back(row);
    }
}

}  // namespace

std::vector<u32> summarize(const TraceState& state, const Options& options, Report& report) {
  for (std::size_t i = 0; i < state.trace.size(); i++) {
    report.captures.push_back(capture_row(state.trace.info(i), state.decoder.counts(i)));
    report.captures.back().left_out_packets = state.trace.left_out(i);
    report.captures.back().mirror_missing_packets = state.mirror_missing(i);
    report.totals.packets += report.captures.back().packets;
    report.totals.roce_packets += report.captures.back().roce_packets;
  }
  note_copies(state, report);
  note_ring_faults(state, report);
  report.totals.retransmissions = report.totals.missing_psns = 0;
  std::vector<u32> ids = selected_flows(state, options);
  for (const u32 id : ids) add(report.totals, state.tracker.flows().at(id));
  report.totals.untracked_packets = state.tracker.untracked_packets();
  report.half_flows = {ids.size(), [&state, ids](std::size_t index, HalfFlowRow& row) {
                         fill(state, ids[index], row);
                       }};

  std::vector<u32> kept;
  for (const Connection& connection : state.tracker.connections())
    if (!connection.broken && std::ranges::binary_search(ids, connection.flows[0]))
      kept.push_back(connection.id);
  report.totals.connections = kept.size();
  report.connections = {kept.size(), [&state, kept](std::size_t index, ConnectionRow& row) {
                          fill(state, state.tracker.connections()[kept[index] - 1], index + 1, row);
                        }};

  report.hosts = host_rows(state);
  add_message_times(state.tracker.message_times(), report);

  report.time_bins = time_bin_rows(state, ids, options.time_bins);
  tell_surroundings(state, report);

  for (const auto& [protocol, packets] : state.decoder.protocols())
    report.protocols.push_back({protocol, packets});
  std::ranges::stable_sort(report.protocols, std::ranges::greater{}, &ProtocolRow::packets);
  return ids;
}

}  // namespace rocetrace
