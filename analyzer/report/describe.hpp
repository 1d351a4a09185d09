// SPDX-License-Identifier: BSD-3-Clause
// The published name of every field of every row, and of every table: written here, once.
//
// describe(row, visit) calls visit(name, value) for each field in published order. JSON, NDJSON,
// CSV and SQLite differ only in the visitor. A value is a number, a bool, text, a Word, a Time, an
// optional, a list, a tally, or another described struct, which the flat formats join with a dot.

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "report/report.hpp"

namespace rocetrace {

/// An optional whose key is left out when it is empty; the flat tables keep its column all the
/// same.
template <class T>
struct IfSet {
  const std::optional<T>& value;
};

constexpr Word word(Trust trust) {
  switch (trust) {
    case Trust::high: return "high";
    case Trust::limited: return "limited";
    case Trust::low: return "low";
  }
  return "low";
}

template <class Visit>
void describe(const Distribution& row, Visit&& visit) {
  visit("count", row.count);
  visit("min", row.min);
  visit("p50", row.p50);
  visit("p90", row.p90);
  visit("p99", row.p99);
  visit("max", row.max);
  visit("mean", row.mean);
}

template <class Visit>
void describe(const DamageRow& row, Visit&& visit) {
  visit("offset", row.offset);
  visit("lost_bytes", row.lost_bytes);
  visit("reason", row.reason);
}

template <class Visit>
void describe(const CaptureRow& row, Visit&& visit) {
  visit("file", row.file);
  visit("format", row.format);
  visit("link_types", row.link_types);
  visit("packets", row.packets);
  visit("wire_bytes", row.wire_bytes);
  visit("roce_packets", row.roce_packets);
  visit("not_roce_on_4791", row.not_roce_on_4791);
  visit("truncated_packets", row.truncated_packets);
  visit("undecoded_packets", row.undecoded_packets);
  visit("first_time", row.first_time);
  visit("last_time", row.last_time);
  visit("cut_short", row.cut_short);
  visit("trust", row.trust ? word(*row.trust) : Word{});
  visit("trust_reasons", row.trust_reasons);
  visit("time_resolution_ns", row.time_resolution_ns);
  visit("dropped_packets", row.dropped_packets);
  visit("damages", row.damages);
  visit("left_out_packets", row.left_out_packets);
  visit("mirror_missing_packets", row.mirror_missing_packets);
  visit("notes", row.notes);
}

template <class Visit>
void describe(const Totals& row, Visit&& visit) {
  visit("packets", row.packets);
  visit("roce_packets", row.roce_packets);
  visit("half_flows", row.half_flows);
  visit("connections", row.connections);
  visit("retransmissions", row.retransmissions);
  visit("missing_psns", row.missing_psns);
  visit("naks", row.naks);
  visit("rnr_naks", row.rnr_naks);
  visit("cnps", row.cnps);
  visit("ce_marked", row.ce_marked);
  visit("untracked_packets", row.untracked_packets);
}

template <class Visit>
void describe(const EcnCounts& row, Visit&& visit) {
  visit("not_ect", row.not_ect);
  visit("ect1", row.ect1);
  visit("ect0", row.ect0);
  visit("ce", row.ce);
}

template <class Visit>
void describe(const CnpSummary& row, Visit&& visit) {
  visit("packets", row.packets);
  visit("interval_ns", row.interval);
  visit("without_ce", row.without_ce);
  visit("ces_per_cnp", row.ces_per_cnp);
  visit("rate_cut", row.rate_cut);
  visit("rate_kept", row.rate_kept);
}

template <class Visit>
void describe(const StallSummary& row, Visit&& visit) {
  visit("count", row.count);
  visit("total_ns", row.total_ns);
  visit("longest_ns", row.longest_ns);
  visit("longest_from", row.longest_from);
  visit("ended_by_resend", row.ended_by_resend);
  visit("ended_by_response", row.ended_by_response);
  visit("ended_by_request", row.ended_by_request);
}

template <class Visit>
void describe(const CauseCounts& row, Visit&& visit) {
  visit("nak_sequence", row.nak_sequence);
  visit("rnr_nak", row.rnr_nak);
  visit("implied_nak", row.implied_nak);
  visit("selective", row.selective);
  visit("timeout", row.timeout);
  visit("unknown", row.unknown);
}

template <class Visit>
void describe(const PlaceCounts& row, Visit&& visit) {
  visit("downstream", row.downstream);
  visit("upstream", row.upstream);
  visit("response", row.response);
  visit("spurious", row.spurious);
  visit("not_ready", row.not_ready);
  visit("ambiguous", row.ambiguous);
}

template <class Visit>
void describe(const RequestSummary& row, Visit&& visit) {
  visit("packets", row.packets);
  visit("messages", row.messages);
  visit("first_psn", row.first_psn);
  visit("last_psn", row.last_psn);
  visit("gaps", row.gaps);
  visit("missing_psns", row.missing_psns);
  visit("retransmissions", row.retransmissions);
  visit("retransmitted_bytes", row.retransmitted_bytes);
  visit("episodes", row.episodes);
  visit("by_cause", row.by_cause);
  visit("by_place", row.by_place);
  visit("reordered", row.reordered);
  visit("duplicate_captures", row.duplicate_captures);
  visit("stale", row.stale);
  visit("capture_missed_psns", row.capture_missed_psns);
  visit("messages_lost", row.messages_lost);
  visit("most_outstanding_psns", row.most_outstanding_psns);
  visit("most_outstanding_reads", row.most_outstanding_reads);
  visit("rnr_wait_ns", row.rnr_wait_ns);
  visit("rnr_timer_ignored", row.rnr_timer_ignored);
  visit("stalls", row.stalls);
}

template <class Visit>
void describe(const NakCounts& row, Visit&& visit) {
  visit("sequence", row.sequence);
  visit("invalid_request", row.invalid_request);
  visit("remote_access", row.remote_access);
  visit("remote_operational", row.remote_operational);
}

template <class Visit>
void describe(const ResponseSummary& row, Visit&& visit) {
  visit("packets", row.packets);
  visit("acks", row.acks);
  visit("naks", row.naks);
  visit("rnr_naks", row.rnr_naks);
  visit("read_responses", row.read_responses);
  visit("atomic_acks", row.atomic_acks);
  visit("gaps", row.gaps);
  visit("missing_psns", row.missing_psns);
  visit("retransmissions", row.retransmissions);
  visit("reordered", row.reordered);
  visit("duplicate_captures", row.duplicate_captures);
}

template <class Visit>
void describe(const IcrcCounts& row, Visit&& visit) {
  visit("good", row.good);
  visit("bad", row.bad);
  visit("not_captured", row.not_captured);
}

template <class Visit>
void describe(const HalfFlowRow& row, Visit&& visit) {
  visit("id", row.id);
  visit("version", row.version == 1 ? Word{"v1"} : Word{"v2"});
  visit("source", row.source);
  visit("destination", row.destination);
  visit("dest_qp", row.dest_qp);
  visit("service", row.service);
  visit("packets", row.packets);
  visit("wire_bytes", row.wire_bytes);
  visit("payload_bytes", row.payload_bytes);
  visit("first_time", row.first_time);
  visit("last_time", row.last_time);
  visit("first_frame", row.first_frame);
  visit("last_frame", row.last_frame);
  visit("source_ports", row.source_ports);
  visit("dscp", row.dscp);
  visit("vlans", row.vlans);
  visit("pcp", row.pcp);
  visit("ecn", row.ecn);
  visit("cnp", row.cnp);
  visit("requests", row.requests);
  visit("responses", row.responses);
  visit("icrc", row.icrc);
}

template <class Visit>
void describe(const CmSummary& row, Visit&& visit) {
  visit("service_id", row.service_id);
  visit("service_port", row.service_port);
  visit("local_ack_timeout_ns", row.local_ack_timeout_ns);
  visit("retry_count", row.retry_count);
  visit("rnr_retry_count", row.rnr_retry_count);
  visit("reply_ns", row.reply_ns);
  visit("disconnect_time", row.disconnect_time);
}

template <class Visit>
void describe(const ConnectionRow& row, Visit&& visit) {
  visit("id", row.id);
  visit("half_flows", row.half_flows);
  visit("evidence", row.evidence);
  visit("confidence", row.confidence);
  visit("path_mtu", row.path_mtu);
  visit("ack_latency_ns", row.ack_latency);
  visit("read_latency_ns", row.read_latency);
  visit("read_first_latency_ns", row.read_first_latency);
  visit("message_time_ns", row.message_time);
  visit("nak_generation_ns", row.nak_generation);
  visit("nak_reaction_ns", row.nak_reaction);
  visit("rnr_wait_ns", row.rnr_wait);
  visit("ce_to_cnp_ns", row.ce_to_cnp);
  visit("cm", row.cm);
}

template <class Visit>
void describe(const HostCounters& row, Visit&& visit) {
  visit("out_of_sequence", row.out_of_sequence);
  visit("duplicate_request", row.duplicate_request);
  visit("packet_seq_err", row.packet_seq_err);
  visit("implied_nak_seq_err", row.implied_nak_seq_err);
  visit("local_ack_timeout_err", row.local_ack_timeout_err);
  visit("rnr_nak_retry_err", row.rnr_nak_retry_err);
  visit("np_ecn_marked_roce_packets", row.np_ecn_marked_roce_packets);
  visit("np_cnp_sent", row.np_cnp_sent);
  visit("rp_cnp_handled", row.rp_cnp_handled);
  visit("rx_icrc_encapsulated", row.rx_icrc_encapsulated);
  visit("req_remote_access_errors", row.req_remote_access_errors);
  visit("req_remote_invalid_request", row.req_remote_invalid_request);
  visit("rx_read_requests", row.rx_read_requests);
  visit("rx_write_requests", row.rx_write_requests);
  visit("rx_atomic_requests", row.rx_atomic_requests);
}

template <class Visit>
void describe(const CnpPacing& row, Visit&& visit) {
  visit("scope", row.scope);
  visit("interval_ns", row.interval_ns);
}

template <class Visit>
void describe(const HostRow& row, Visit&& visit) {
  visit("address", row.address);
  visit("sent_packets", row.sent_packets);
  visit("received_packets", row.received_packets);
  visit("counters", row.counters);
  visit("cnp_pacing", row.cnp_pacing);
}

template <class Visit>
void describe(const MessageTimeRow& row, Visit&& visit) {
  visit("verb", row.verb);
  visit("up_to_bytes", row.up_to_bytes);
  visit("time_ns", row.time);
}

template <class Visit>
void describe(const TimeBinRow& row, Visit&& visit) {
  visit("half_flow", row.half_flow);
  visit("start", row.start);
  visit("width_ns", row.width_ns);
  visit("packets", row.packets);
  visit("wire_bytes", row.wire_bytes);
  visit("payload_bytes", row.payload_bytes);
  visit("wire_bits_per_second", row.wire_bits_per_second);
  visit("payload_bits_per_second", row.payload_bits_per_second);
  visit("retransmissions", row.retransmissions);
  visit("ce_marked", row.ce_marked);
  visit("cnps", row.cnps);
}

template <class Visit>
void describe(const SubnetPairRow& row, Visit&& visit) {
  visit("source", row.source);
  visit("destination", row.destination);
  visit("half_flows", row.half_flows);
  visit("packets", row.packets);
  visit("payload_bytes", row.payload_bytes);
  visit("retransmissions", row.retransmissions);
  visit("retransmission_share", row.retransmission_share);
  visit("retransmissions_per_second", row.retransmissions_per_second);
  visit("ce_marked", row.ce_marked);
  visit("ce_share", row.ce_share);
  visit("cnps", row.cnps);
  visit("ack_latency_ns", row.ack_latency);
  visit("read_latency_ns", row.read_latency);
  visit("message_time_ns", row.message_time);
}

template <class Visit>
void describe(const FindingScope& row, Visit&& visit) {
  visit("half_flow", IfSet<u64>{row.half_flow});
  visit("connection", IfSet<u64>{row.connection});
  visit("host", IfSet<std::string>{row.host});
  visit("hosts", IfSet<std::vector<std::string>>{row.hosts});
  visit("capture", IfSet<std::string>{row.capture});
}

template <class Visit>
void describe(const FindingRow& row, Visit&& visit) {
  visit("id", row.id);
  visit("severity", row.severity);
  visit("scope", row.scope);
  visit("first_frame", row.first_frame);
  visit("last_frame", row.last_frame);
  visit("first_time", row.first_time);
  visit("last_time", row.last_time);
  visit("count", row.count);
  visit("evidence", row.evidence);
  visit("text", row.text);
}

template <class Visit>
void describe(const ProtocolRow& row, Visit&& visit) {
  visit("name", row.name);
  visit("packets", row.packets);
}

template <class Visit>
void describe(const UnjudgedRow& row, Visit&& visit) {
  visit("id", row.id);
  visit("text", row.text);
}

/// A struct that has a description above.
template <class T>
concept Described = requires(const T& row) {
  describe(row, [](const auto&, const auto&) {});
};

/// Calls visit(key, name of one row, rows) for each table: `key` names the list of all rows.
template <class Visit>
void describe_tables(const Report& report, Visit&& visit) {
  visit("captures", "capture", report.captures);
  visit("half_flows", "half_flow", report.half_flows);
  visit("connections", "connection", report.connections);
  visit("hosts", "host", report.hosts);
  visit("message_times", "message_time", report.message_times);
  visit("time_bins", "time_bin", report.time_bins);
  visit("subnet_pairs", "subnet_pair", report.subnet_pairs);
  visit("findings", "finding", report.findings);
  visit("protocols", "protocol", report.protocols);
  visit("could_not_judge", "unjudged", report.could_not_judge);
  visit("icmp_errors", "icmp_error", report.icmp_errors);
  visit("pauses", "pause", report.pauses);
  visit("dcbx", "dcbx", report.dcbx);
  visit("samples", "sample", report.samples);
}

}  // namespace rocetrace
