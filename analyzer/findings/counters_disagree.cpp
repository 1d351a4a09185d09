// SPDX-License-Identifier: BSD-3-Clause
// counters.disagree: what the trace shows of a host beside what its NIC counted meanwhile.

#include <algorithm>

#include "findings/detector.hpp"
#include "findings/host_totals.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

constexpr FindingKind kKinds[] = {
    {"counters.disagree",
     Severity::warning,
     Urgency::lossy,
     "The NIC counted something else than the trace shows",
     "Where the NIC counted more, the capture does not show all that happened: it lost packets, "
     "began later or ended earlier than the dumps, or looks at another port. Where the trace shows "
     "more, packets that passed the tap never reached the NIC, or the dumps are of another host.",
     "The counters' growth between --counters-before and --counters-after, beside the counts of "
     "the host, differs by more than counters.disagree.share (1 %). Only counters that are counted "
     "in packets or NAKs of one kind are compared, not what is inferred.",
     "Take the dumps right before and after the capture, on the host of the tap; trust the NIC's "
     "counts for how much, and the trace for when and which queue pair.",
     {Need::counter_dumps, Need::every_packet, Need::one_tap}},
};

/// A counter of the trace, and what drivers call it.
struct Counter {
  std::string_view name;
  u64 HostTotals::*member;
  std::array<std::string_view, 3> aliases;  // rdma_rxe, bnxt_re, irdma, or mlx5's ethtool -S
  bool packets = false;                     // counts all packets
  bool once = false;  // NICs differ on whether a repeated request counts again
};
constexpr Counter kCounters[] = {
    {"sent_packets",
     &HostTotals::sent_packets,
     {"sent_pkts", "tx_vport_rdma_unicast_packets", ""},
     true},
    {"received_packets",
     &HostTotals::received_packets,
     {"rcvd_pkts", "rx_vport_rdma_unicast_packets", ""},
     true},
    {"out_of_sequence", &HostTotals::out_of_sequence, {"out_of_seq_request", "", ""}},
    {"duplicate_request", &HostTotals::duplicate_request, {"dup_req", "", ""}},
    {"packet_seq_err", &HostTotals::packet_seq_err, {"seq_err_naks_rcvd", "", ""}},
    {"rnr_nak_retry_err", &HostTotals::rnr_nak_retry_err, {"rcvd_rnr_err", "rnr_naks_rcvd", ""}},
    {"np_ecn_marked_roce_packets",
     &HostTotals::np_ecn_marked_roce_packets,
     {"rx_ecn_marked_pkts", "RxECNMrkd", ""}},
    {"np_cnp_sent", &HostTotals::np_cnp_sent, {"tx_cnp_pkts", "cnpSent", ""}},
    {"rp_cnp_handled", &HostTotals::rp_cnp_handled, {"rx_cnp_pkts", "cnpHandled", ""}},
    {"rx_icrc_encapsulated", &HostTotals::rx_icrc_encapsulated, {"", "", ""}},
    {"req_remote_access_errors", &HostTotals::req_remote_access_errors, {"", "", ""}},
    {"req_remote_invalid_request", &HostTotals::req_remote_invalid_request, {"", "", ""}},
    {"rx_read_requests", &HostTotals::rx_read_requests, {"", "", ""}, false, true},
    {"rx_write_requests", &HostTotals::rx_write_requests, {"", "", ""}, false, true},
    {"rx_atomic_requests", &HostTotals::rx_atomic_requests, {"", "", ""}, false, true},
};

struct Pair {
  const Counter* counter = nullptr;
  u64 nic = 0, trace = 0;
  bool differs = false;
};

struct Comparison {
  std::vector<Pair> pairs;
  u64 differing = 0, alike = 0;  // `alike`: the same, and not 0
  std::vector<u32> addresses;

  bool compared() const { return !pairs.empty(); }
};

std::optional<u64> counted(const NicCounts& nic, const Counter& counter) {
  if (const auto at = nic.counts.find(std::string(counter.name)); at != nic.counts.end())
    return at->second;
  for (const std::string_view alias : counter.aliases)
    if (const auto at = nic.counts.find(std::string(alias)); at != nic.counts.end())
      return at->second;
  return std::nullopt;
}

Comparison compare(const TraceView& trace, const NicCounts& nic, const HostTotals& totals,
                   std::vector<u32> addresses) {
  Comparison out;
  out.addresses = std::move(addresses);
  const double share = trace.limit("counters.disagree.share");
  for (const Counter& counter : kCounters) {
    const auto value = counted(nic, counter);
    if (!value || (counter.once && totals.duplicate_request > 0)) continue;
    const u64 seen = totals.*counter.member;
    const u64 apart = std::max(seen, *value) - std::min(seen, *value);
    const bool differs = apart > 0 && static_cast<double>(apart) >
                                          share * static_cast<double>(std::max(seen, *value));
    out.pairs.push_back({&counter, *value, seen, differs});
    out.differing += differs;
    out.alike += !differs && seen > 0;
  }
  return out;
}

// The host that the dumps are of, by what both counted; nothing when two fit as well.
std::optional<Comparison> best(const TraceView& trace, const NicCounts& nic,
                               const std::map<u32, HostTotals>& hosts) {
  std::vector<Comparison> all;
  for (const auto& [address, totals] : hosts) all.push_back(compare(trace, nic, totals, {address}));
  const auto worse = [](const Comparison& a, const Comparison& b) {
    return std::pair(b.differing, a.alike) < std::pair(a.differing, b.alike);
  };
  std::ranges::sort(all, [&](const Comparison& a, const Comparison& b) { return worse(b, a); });
  if (all.empty() || all[0].alike == 0) return std::nullopt;
  if (all.size() > 1 && !worse(all[1], all[0])) return std::nullopt;
  return std::move(all[0]);
}

std::string label(const NicCounts& nic) {
  return nic.device.empty() ? "the NIC" : nic.device;
}

void report(const TraceView& trace, const NicCounts& nic, const Comparison& found, Findings& out) {
  if (found.differing == 0) return;
  bool packets_known = false, packets_short = false, more_in_trace = false;
  for (const Pair& pair : found.pairs) {
    packets_known = packets_known || pair.counter->packets;
    packets_short =
        packets_short || (pair.counter->packets && pair.differs && pair.nic > pair.trace);
    more_in_trace = more_in_trace || (pair.differs && pair.trace > pair.nic);
  }
  const std::string host = trace.address(found.addresses.front());
  // That packets are not in the trace explains that errors are not.
  const bool explained = packets_short && !more_in_trace;
  Finding finding{&kKinds[0],
                  explained ? Severity::info : Severity::warning,
                  {Scope::Of::host, found.addresses.front(), 0},
                  {},
                  {},
                  {}};
  finding.seen.count = found.differing;
  std::string list;
  for (const Pair& pair : found.pairs)
    if (pair.differs)
      list += fmt::format("{}{} {} (trace: {})", list.empty() ? "" : ", ", pair.counter->name,
                          human::grouped(pair.nic), human::grouped(pair.trace));
  finding.text = fmt::format("{}: {} counted {}; {} of {} counters differ.", host, label(nic), list,
                             found.differing, found.pairs.size());
  if (explained) finding.text += " The trace does not hold all of its packets.";
  if (packets_known && !packets_short && !more_in_trace)
    finding.text += " All of its packets are in the trace.";
  finding.evidence = {
      {"host", host}, {"device", nic.device}, {"compared", u64{found.pairs.size()}}};
  for (const Pair& pair : found.pairs)
    if (pair.differs) {
      finding.evidence.emplace_back(fmt::format("{}_nic", pair.counter->name), pair.nic);
      finding.evidence.emplace_back(fmt::format("{}_trace", pair.counter->name), pair.trace);
    }
  out.found.push_back(std::move(finding));
}

void judge_device(const TraceView& trace, const NicCounts& nic,
                  const std::map<u32, HostTotals>& hosts, Findings& out) {
  const auto cannot = [&](std::string why) {
    out.unjudged.push_back({kKinds[0].id, fmt::format("{}: {}", label(nic), why)});
  };
  for (const Counter& counter : kCounters)
    for (const std::string& name : nic.backward)
      if (name == counter.name || std::ranges::count(counter.aliases, name) > 0)
        cannot(fmt::format("{} is less in the second dump: it was reset, or wrapped.", name));
  if (!compare(trace, nic, {}, {}).compared())
    return cannot("the dumps hold no counter that a trace can show.");
  if (trace.circumstances.counter_hosts.empty()) {
    if (const auto found = best(trace, nic, hosts)) return report(trace, nic, *found, out);
    return cannot("which host of the trace it belongs to cannot be told: --counters-host says it.");
  }
  HostTotals together;
  std::vector<u32> addresses;
  for (const auto& [address, totals] : hosts)
    if (std::ranges::count(trace.circumstances.counter_hosts, trace.address(address)) > 0) {
      together += totals;
      addresses.push_back(address);
    }
  if (addresses.empty()) return cannot("no packet of --counters-host is in the trace.");
  report(trace, nic, compare(trace, nic, together, std::move(addresses)), out);
}

// A device that counted nothing was idle, when another did count.
bool is_idle(const NicCounts& nic) {
  return nic.backward.empty() &&
         std::ranges::all_of(nic.counts, [](const auto& one) { return one.second == 0; });
}

void judge(const TraceView& trace, Findings& out) {
  const std::vector<NicCounts>& devices = trace.circumstances.counters;
  if (devices.empty()) return;
  const auto cannot = [&](const char* why) { out.unjudged.push_back({kKinds[0].id, why}); };
  if (trace.circumstances.part_only)
    return cannot("Only a part of the packets was selected; NICs count all.");
  const std::map<u32, HostTotals> hosts = host_totals(trace.tracker.flows());
  const bool all_idle = std::ranges::all_of(devices, is_idle);
  for (const NicCounts& nic : devices)
    if (all_idle || !is_idle(nic)) judge_device(trace, nic, hosts, out);
}

}  // namespace

extern const CatalogEntry kCountersDisagree;
constinit const CatalogEntry kCountersDisagree = {kKinds, judge};

}  // namespace rocetrace
