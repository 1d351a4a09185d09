// SPDX-License-Identifier: BSD-3-Clause
// entropy.low, entropy.constant, entropy.hot_port: UDP source ports are what ECMP spreads RoCEv2
// by.

#include <cmath>
#include <map>

#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

constexpr FindingKind kKinds[] = {
    {"entropy.low",
     Severity::warning,
     Urgency::setting,
     "Few UDP source ports for many queue pairs",
     "Switches spread flows over equal paths by their addresses and ports; queue pairs with the "
     "same source port take the same path and share one link while others idle.",
     "At least entropy.flows (4) queue pairs from one host to another whose source ports have a "
     "normalised entropy below entropy.warning (0.5): 0 is one port for all, 1 all different.",
     "Let the application or library set a flow label or source port for each queue pair "
     "(rdma_set_option, NCCL_IB_QPS_PER_CONNECTION with NCCL_IB_SPLIT_DATA_ON_QPS), or let the "
     "switches hash on the destination QP.",
     {}},
    {"entropy.constant",
     Severity::warning,
     Urgency::setting,
     "One UDP source port for all queue pairs",
     "All queue pairs between the two hosts take the same path through the fabric, whatever else "
     "is free: they cannot be faster than one link, and bonds use one leg.",
     "At least entropy.flows (4) queue pairs from one host to another, all with the same source "
     "port.",
     "As for entropy.low. A constant 49152 (0xC000) is the default of a library that sets no flow "
     "label.",
     {}},
    {"entropy.hot_port",
     Severity::info,
     Urgency::slow,
     "One source port carries most of the bytes",
     "However many ports there are, one path of the fabric gets most of the traffic of this pair.",
     "At least entropy.flows (4) queue pairs with 4 ports or more from one host to another, of "
     "which one port carries more than entropy.hot.share (50 %) of the bytes.",
     "Spread the work over the queue pairs, or the heavy one over several.",
     {}},
};

struct Ports {
  std::map<u16, u64> flows;  // queue pairs by source port
  std::map<u16, u64> bytes;
  u64 count = 0;
  u64 all_bytes = 0;
  Sightings seen;
  u32 example = 0;  // half-flow
};

// 0: all the same; 1: all different.
double entropy_of(const std::map<u16, u64>& counts, u64 all) {
  if (all < 2) return 1;
  double sum = 0;
  for (const auto& [port, count] : counts) {
    const double share = ratio(count, all);
    sum -= share * std::log2(share);
  }
  return sum / std::log2(static_cast<double>(all));
}

void add(const TraceView& trace, std::size_t kind, std::pair<u32, u32> hosts, const Ports& ports,
         std::string text, Findings& out) {
  Finding finding{&kKinds[kind],
                  kKinds[kind].severity,
                  {Scope::Of::hosts, hosts.first, hosts.second},
                  ports.seen,
                  {},
                  std::move(text)};
  finding.half_flows = {ports.example};
  const auto hot =
      std::ranges::max_element(ports.bytes, {}, [](const auto& entry) { return entry.second; });
  finding.evidence = {{"source", trace.address(hosts.first)},
                      {"destination", trace.address(hosts.second)},
                      {"queue_pairs", ports.count},
                      {"source_ports", u64{ports.flows.size()}},
                      {"entropy", rounded(entropy_of(ports.flows, ports.count), 3)},
                      {"busiest_port", u64{hot->first}},
                      {"busiest_port_share", rounded(ratio(hot->second, ports.all_bytes), 3)}};
  out.found.push_back(std::move(finding));
}

void judge(const TraceView& trace, Findings& out) {
  std::map<std::pair<u32, u32>, Ports> pairs;
  trace.each_flow([&](const HalfFlow& flow) {
    const bool has_port = flow.marking.has & roce::flow::Marking::kSourcePort;
    if (!has_port || !is_traffic(flow) || !is_reliable(flow) || flow.payload_bytes == 0) return;
    Ports& ports = pairs[{flow.key.source, flow.key.destination}];
    ports.flows[flow.marking.source_port]++;
    ports.bytes[flow.marking.source_port] += flow.payload_bytes;
    ports.count++;
    ports.all_bytes += flow.payload_bytes;
    ports.example = ports.example == 0 ? flow.id : ports.example;
    ports.seen.merge({1, flow.first_frame, flow.last_frame, flow.first_time, flow.last_time});
  });
  for (const auto& [hosts, ports] : pairs) {
    if (static_cast<double>(ports.count) < trace.limit("entropy.flows")) continue;
    const std::string names =
        fmt::format("{} -> {}", trace.address(hosts.first), trace.address(hosts.second));
    const double entropy = entropy_of(ports.flows, ports.count);
    if (ports.flows.size() == 1) {
      add(trace, 1, hosts, ports,
          fmt::format("{}: all {} use UDP source port {} ({:#06x}).", names,
                      plural(ports.count, "queue pair", "queue pairs"), ports.flows.begin()->first,
                      ports.flows.begin()->first),
          out);
    } else if (entropy < trace.limit("entropy.warning")) {
      add(trace, 0, hosts, ports,
          fmt::format("{}: {} use {}, entropy {:.2f}.", names,
                      plural(ports.count, "queue pair", "queue pairs"),
                      plural(ports.flows.size(), "UDP source port", "UDP source ports"), entropy),
          out);
    }
    const auto hot =
        std::ranges::max_element(ports.bytes, {}, [](const auto& entry) { return entry.second; });
    const double share = ratio(hot->second, ports.all_bytes);
    if (ports.flows.size() >= 4 && share > trace.limit("entropy.hot.share"))
      add(trace, 2, hosts, ports,
          fmt::format("{}: {:.0f} % of the bytes have UDP source port {}, of {} in use.", names,
                      100 * share, hot->first, ports.flows.size()),
          out);
  }
}

}  // namespace

extern const CatalogEntry kEntropy;
constinit const CatalogEntry kEntropy = {kKinds, judge};

}  // namespace rocetrace
