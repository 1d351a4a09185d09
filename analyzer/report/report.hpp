// SPDX-License-Identifier: BSD-3-Clause
// Everything an analysis found, as rows: what every report format is made from.
//
// The structs mirror the published data contract. A value that cannot be known is an empty
// optional and becomes null, never 0. describe.hpp gives each field its published name, once.

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/row_values.hpp"
#include "report/surrounding_rows.hpp"
#include "report/table.hpp"

namespace rocetrace {

/// A summary of durations in nanoseconds; count > 0.
struct Distribution {
  u64 count = 0;
  u64 min = 0;
  u64 p50 = 0;
  u64 p90 = 0;
  u64 p99 = 0;
  u64 max = 0;
  u64 mean = 0;
};
using MaybeDistribution = std::optional<Distribution>;

/// How often one value (a DSCP, a VLAN) was seen.
struct ValueCount {
  u32 value = 0;
  u64 count = 0;
};

/// How far a capture can be trusted.
enum class Trust : u8 { high, limited, low };

/// A place in a capture file that could not be read as what it should be.
struct DamageRow {
  u64 offset = 0;      // bytes from the start of the file
  u64 lost_bytes = 0;  // skipped to the next thing that could be read; to the end, when none could
  std::string reason;
};

struct CaptureRow {
  std::string file;    // as the user named it
  std::string format;  // pcap, pcapng
  std::vector<std::string> link_types{};
  u64 packets = 0;
  u64 wire_bytes = 0;
  u64 roce_packets = 0;
  u64 not_roce_on_4791 = 0;
  u64 truncated_packets = 0;
  u64 undecoded_packets = 0;
  std::optional<Time> first_time{};
  std::optional<Time> last_time{};
  bool cut_short = false;
  std::optional<Trust> trust{};
  std::vector<std::string> trust_reasons{};  // sentences; why not `high`
  std::optional<u64> time_resolution_ns{};   // of the coarsest interface
  std::optional<u64> dropped_packets{};      // as the capture's own statistics say
  std::vector<DamageRow> damages{};
  std::optional<u64> left_out_packets{};        // by --filter, --from, --to or --vlan
  std::optional<u64> mirror_missing_packets{};  // by the sequence numbers of ERSPAN or GRE
  std::vector<std::string> notes{};             // sentences on its clocks, and on what else is odd
};

struct Totals {
  u64 packets = 0;
  u64 roce_packets = 0;
  u64 half_flows = 0;
  std::optional<u64> connections{};
  std::optional<u64> retransmissions{};
  std::optional<u64> missing_psns{};
  u64 naks = 0;
  u64 rnr_naks = 0;
  u64 cnps = 0;
  u64 ce_marked = 0;
  u64 untracked_packets = 0;  // of half-flows beyond --max-flows
};

struct EcnCounts {
  u64 not_ect = 0;
  u64 ect1 = 0;
  u64 ect0 = 0;
  u64 ce = 0;
};

struct CnpSummary {
  u64 packets = 0;
  MaybeDistribution interval{};
  std::optional<u64> without_ce{};  // CNPs with no CE mark seen before them; needs the partner
  std::optional<double> ces_per_cnp{};
  std::optional<u64> rate_cut{};   // CNPs after which the marked data came slower than before,
  std::optional<u64> rate_kept{};  // and after which it did not
};

/// Time in which requests waited for an answer and nothing moved.
struct StallSummary {
  u64 count = 0;
  u64 total_ns = 0;
  u64 longest_ns = 0;
  std::optional<Time> longest_from{};
  u64 ended_by_resend = 0;    // the sender sent again: a timeout
  u64 ended_by_response = 0;  // the responder answered late
  u64 ended_by_request = 0;   // the sender sent something new
};

struct CauseCounts {
  u64 nak_sequence = 0;
  u64 rnr_nak = 0;
  u64 implied_nak = 0;
  u64 selective = 0;
  u64 timeout = 0;
  u64 unknown = 0;
};

struct PlaceCounts {
  u64 downstream = 0;
  u64 upstream = 0;
  u64 response = 0;
  u64 spurious = 0;
  u64 not_ready = 0;
  u64 ambiguous = 0;
};

/// Duplicate captures are left out of every count but their own. What follows from sequence numbers
/// is empty in a capture that holds a sample of the packets.
struct RequestSummary {
  u64 packets = 0;
  u64 messages = 0;
  std::optional<u32> first_psn{};
  std::optional<u32> last_psn{};
  std::optional<u64> gaps{};
  std::optional<u64> missing_psns{};
  std::optional<u64> retransmissions{};
  std::optional<u64> retransmitted_bytes{};
  std::optional<u64> episodes{};
  std::optional<CauseCounts> by_cause{};  // adds up to retransmissions
  std::optional<PlaceCounts> by_place{};  // adds up to retransmissions
  std::optional<u64> reordered{};
  u64 duplicate_captures = 0;
  u64 stale = 0;
  u64 capture_missed_psns = 0;                 // never seen here, yet answered: lost by the capture
  std::optional<u64> messages_lost{};          // UC: nobody repairs them
  std::optional<u64> most_outstanding_psns{};  // sent and not answered yet, at most
  std::optional<u64> most_outstanding_reads{};
  std::optional<u64> rnr_wait_ns{};        // between RNR NAKs and the resends they caused
  std::optional<u64> rnr_timer_ignored{};  // resends before the RNR timer had run out
  std::optional<StallSummary> stalls{};
};

struct NakCounts {
  u64 sequence = 0;
  u64 invalid_request = 0;
  u64 remote_access = 0;
  u64 remote_operational = 0;

  u64 fatal() const { return invalid_request + remote_access + remote_operational; }
  u64 total() const { return sequence + fatal(); }
};

struct ResponseSummary {
  u64 packets = 0;
  u64 acks = 0;
  NakCounts naks;
  u64 rnr_naks = 0;
  u64 read_responses = 0;
  u64 atomic_acks = 0;
  std::optional<u64> gaps{};
  std::optional<u64> missing_psns{};
  std::optional<u64> retransmissions{};
  u64 reordered = 0;
  u64 duplicate_captures = 0;
};

struct IcrcCounts {
  u64 good = 0;
  u64 bad = 0;
  u64 not_captured = 0;
};

/// One direction to one QP. Its NAKs are those sent to that QP: about what that QP requested.
struct HalfFlowRow {
  u64 id = 0;      // from 1, by first frame
  u8 version = 2;  // RoCE version: 1 or 2
  std::string source;
  std::string destination;
  u32 dest_qp = 0;  // 24 bits
  Word service;     // RC, UC, UD, RD, XRC
  u64 packets = 0;
  u64 wire_bytes = 0;
  u64 payload_bytes = 0;
  Time first_time;
  Time last_time;
  u64 first_frame = 0;
  u64 last_frame = 0;
  std::vector<u16> source_ports{};  // ascending
  std::vector<ValueCount> dscp{};   // ascending by value
  std::vector<u16> vlans{};         // ascending
  std::vector<ValueCount> pcp{};    // of the VLAN tags, ascending by value
  EcnCounts ecn;
  CnpSummary cnp;
  RequestSummary requests;
  ResponseSummary responses;
  IcrcCounts icrc;
};

/// What the communication manager's messages said of a connection.
struct CmSummary {
  u64 service_id = 0;
  std::optional<u16> service_port{};  // of RDMA-CM over IP
  std::optional<u64> local_ack_timeout_ns{};
  u64 retry_count = 0;
  u64 rnr_retry_count = 0;
  std::optional<u64> reply_ns{};  // from the REQ to the REP
  std::optional<Time> disconnect_time{};
};

struct ConnectionRow {
  u64 id = 0;
  std::array<std::optional<u64>, 2> half_flows;  // ids; one of them empty without a partner
  Word evidence;                                 // cm, psn, only_pair
  double confidence = 0;                         // 0..1
  std::optional<u32> path_mtu{};
  MaybeDistribution ack_latency{};
  MaybeDistribution read_latency{};        // to the last response
  MaybeDistribution read_first_latency{};  // to the first
  MaybeDistribution message_time{};
  MaybeDistribution nak_generation{};
  MaybeDistribution nak_reaction{};
  MaybeDistribution rnr_wait{};
  MaybeDistribution ce_to_cnp{};
  std::optional<CmSummary> cm{};
};

/// Counts that a NIC keeps too, under the names of Linux's hw_counters.
struct HostCounters {
  std::optional<u64> out_of_sequence{};
  std::optional<u64> duplicate_request{};
  std::optional<u64> packet_seq_err{};
  std::optional<u64> implied_nak_seq_err{};
  std::optional<u64> local_ack_timeout_err{};
  std::optional<u64> rnr_nak_retry_err{};
  std::optional<u64> np_ecn_marked_roce_packets{};
  std::optional<u64> np_cnp_sent{};
  std::optional<u64> rp_cnp_handled{};
  std::optional<u64> rx_icrc_encapsulated{};
  std::optional<u64> req_remote_access_errors{};
  std::optional<u64> req_remote_invalid_request{};
  std::optional<u64> rx_read_requests{};
  std::optional<u64> rx_write_requests{};
  std::optional<u64> rx_atomic_requests{};
};

/// At what scope a NIC holds its CNPs apart.
struct CnpPacing {
  Word scope;           // port, destination, qp: the widest that fits the intervals seen
  u64 interval_ns = 0;  // the shortest within it
};

struct HostRow {
  std::string address;
  u64 sent_packets = 0;      // RoCE packets with this source, and
  u64 received_packets = 0;  // with this destination, that passed the tap
  HostCounters counters;
  std::optional<CnpPacing> cnp_pacing{};  // of the CNPs that it sends
};

/// Completion times of the whole trace's messages of one verb and size.
struct MessageTimeRow {
  Word verb;
  std::optional<u64> up_to_bytes{};  // empty: larger than the size before
  Distribution time;
};

/// What passed in one span of time.
struct TimeBinRow {
  std::optional<u64> half_flow{};  // id; empty: all together
  Time start;
  u64 width_ns = 0;
  u64 packets = 0;
  u64 wire_bytes = 0;
  u64 payload_bytes = 0;
  double wire_bits_per_second = 0;
  double payload_bits_per_second = 0;
  std::optional<u64> retransmissions{};
  u64 ce_marked = 0;
  u64 cnps = 0;
};

/// All traffic from one subnet to another.
struct SubnetPairRow {
  std::string source;       // 10.0.0.0/24
  std::string destination;  //
  u64 half_flows = 0;
  u64 packets = 0;
  u64 payload_bytes = 0;
  std::optional<u64> retransmissions{};
  std::optional<double> retransmission_share{};  // of the request packets, 0..1
  std::optional<double> retransmissions_per_second{};
  u64 ce_marked = 0;
  double ce_share = 0;  // of the ECN-capable packets, 0..1
  u64 cnps = 0;         // that came back for it
  MaybeDistribution ack_latency{};
  MaybeDistribution read_latency{};
  MaybeDistribution message_time{};
};

/// What a finding concerns: exactly one of these is set.
struct FindingScope {
  std::optional<u64> half_flow{};   // id
  std::optional<u64> connection{};  // id
  std::optional<std::string> host{};
  std::optional<std::vector<std::string>> hosts{};  // two
  std::optional<std::string> capture{};
};

using EvidenceValue = std::variant<u64, i64, double, bool, std::string>;
using Evidence = std::vector<std::pair<std::string, EvidenceValue>>;

struct FindingRow {
  std::string id;  // loss.retransmission, ...
  Word severity;   // info, warning, error
  FindingScope scope;
  std::optional<u64> first_frame{};
  std::optional<u64> last_frame{};
  std::optional<Time> first_time{};
  std::optional<Time> last_time{};
  u64 count = 0;
  Evidence evidence;
  std::string text;
};

/// What else the trace holds, by the outermost thing that names it (ARP, TCP, UDP port 53, ...).
struct ProtocolRow {
  std::string name;
  u64 packets = 0;
};

/// Something that this trace cannot answer, and what it would need.
struct UnjudgedRow {
  std::string id;    // of the finding, class, cause or place
  std::string text;  // a sentence
};

struct Report {
  std::vector<CaptureRow> captures{};
  Totals totals;
  Table<HalfFlowRow> half_flows;     // by first frame
  Table<ConnectionRow> connections;  // by id
  std::vector<HostRow> hosts{};      // by address
  std::vector<MessageTimeRow> message_times{};
  std::vector<TimeBinRow> time_bins{};        // all together, then by half-flow if asked for
  std::vector<SubnetPairRow> subnet_pairs{};  // the slowest first
  std::vector<FindingRow> findings{};         // most severe first
  std::vector<ProtocolRow> protocols{};       // most packets first
  std::vector<UnjudgedRow> could_not_judge{};
  std::vector<IcmpErrorRow> icmp_errors{};  // most packets first
  std::vector<PauseRow> pauses{};           // longest paused first
  std::vector<DcbxRow> dcbx{};              // by MAC
  std::vector<SampleRow> samples{};         // most samples first
};

}  // namespace rocetrace
