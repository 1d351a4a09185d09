// SPDX-License-Identifier: BSD-3-Clause
// The whole trace, as those see it who judge it at its end.

#pragma once

#include <optional>
#include <set>
#include <span>

#include "findings/counter_dump.hpp"
#include "findings/flow_log.hpp"
#include "findings/thresholds.hpp"
#include "roce/net/address.hpp"

namespace rocetrace {

/// What one capture file says of itself, and what was counted in it.
struct CaptureFacts {
  std::string file;
  u64 packets = 0;
  u64 roce_packets = 0;
  u64 not_roce_on_4791 = 0;
  u64 undecoded_packets = 0;
  u64 truncated_packets = 0;
  u64 untimed_packets = 0;
  std::optional<u64> dropped_packets;  // by the capture, it says
  bool ethernet = false;               // some of its interfaces are
  u64 mirror_missing = 0;              // by the sequence numbers of ERSPAN or GRE
  bool cut_short = false;
  u64 damages = 0;
  u64 damaged_bytes = 0;
  u64 tick_ns = 1;              // what its clock counts
  u64 equal_times = 0;          // packets with the time of the one before
  u64 backward_times = 0;       // with an earlier time than the one before,
  u64 largest_backward_ns = 0;  // and by how much at most
  u64 overlap_ns = 0;    // it begins so long before the end of the ring's file in front of it
  std::string in_front;  // that file
};

/// How many leading bits of an address name its subnet.
struct SubnetPrefix {
  unsigned ipv4 = 24;
  unsigned ipv6 = 64;
};

/// "10.0.0.0/24": the subnet of an address; of one that is no IP address, itself.
std::string subnet_text(roce::net::Address address, const SubnetPrefix& prefix);

/// What the user says of the network, and wants to know.
struct Circumstances {
  Thresholds limits;
  std::vector<u8> lossless_dscps;
  SubnetPrefix subnet;
  std::vector<NicCounts> counters;         // what NICs counted meanwhile, by their own account
  std::vector<std::string> counter_hosts;  // whose they are, the addresses of one host; or empty
  bool part_only = false;                  // not all packets of the captures are looked at
};

/// Who was seen to send anything but RoCE. A host that is among them, and of which no RoCE packet
/// was captured, sent none.
class Speakers {
 public:
  void note(const roce::net::Address& address) {
    const std::string text(address.text().view());
    if (spoke_.size() < kMost) spoke_.insert(text);
  }
  bool heard(const std::string& address) const { return spoke_.contains(address); }

 private:
  static constexpr std::size_t kMost = 4096;
  std::set<std::string> spoke_;
};

struct TraceView {
  const roce::flow::Tracker& tracker;
  const roce::net::AddressTable& addresses;
  const Circumstances& circumstances;
  const FlowLogs& logs;
  const Speakers& speakers;
  std::span<const CaptureFacts> captures;
  std::span<const u32> half_flows;  // ids of those that the user asked for, ascending
  u64 begin = 0, end = 0;           // of the trace, nanoseconds
  bool sampled = false;             // PSNs mean nothing: see capture.sampled
  std::optional<u64> mixed_ns{};    // two taps in one, with clocks so far apart: nor do they here
  bool shuffled = false;            // nor here: files of a ring overlap in time

  using Flow = roce::flow::HalfFlow;
  const Flow& flow(u32 id) const { return tracker.flows().at(id); }
  /// The other half-flow of its connection, or null.
  const Flow* partner(const Flow& flow) const {
    return flow.partner != 0 ? &tracker.flows().at(flow.partner) : nullptr;
  }
  const roce::flow::Connection* connection(const Flow& flow) const {
    return flow.connection != 0 ? &tracker.connections()[flow.connection - 1] : nullptr;
  }
  const FlowLog& log(const Flow& flow) const { return logs.of(flow.id); }
  double limit(std::string_view key) const { return circumstances.limits[key]; }
  std::string address(u32 id) const { return std::string(addresses.address(id).text().view()); }
  u64 duration() const { return end - begin; }
  /// Whether packets are in the order in which they passed.
  bool is_ordered() const { return !mixed_ns && !shuffled; }

  template <class Visit>
  void each_flow(Visit&& visit) const {
    for (const u32 id : half_flows) visit(flow(id));
  }
};

/// Whether a half-flow's packets are those of a queue pair's own traffic: not of the communication
/// manager's.
inline bool is_traffic(const roce::flow::HalfFlow& flow) {
  return flow.key.dest_qp() > 1;
}
/// RC, XRC, RD: losses are sent again.
inline bool is_reliable(const roce::flow::HalfFlow& flow) {
  const auto service = static_cast<roce::Service>(flow.service);
  return service == roce::Service::rc || service == roce::Service::xrc ||
         service == roce::Service::rd;
}
/// The address that it goes to answers nothing: a group.
bool is_multicast(const TraceView& trace, const roce::flow::HalfFlow& flow);

}  // namespace rocetrace
