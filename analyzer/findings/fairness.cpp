// SPDX-License-Identifier: BSD-3-Clause
// incast, noisy_neighbour, slowest_qp: who suffers from whom.

#include <algorithm>
#include <bitset>
#include <map>

#include "findings/detector.hpp"
#include "findings/marks.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"incast",
     Severity::warning,
     Urgency::slow,
     "Many senders to one host at the same time",
     "The last link to that host is the bottleneck: its queue fills as soon as more than one "
     "sender has a full window. Collectives (all-to-all, all-reduce) and storage reads do it.",
     "At least incast.senders (4) hosts sent data to one host within the same time bin, and some "
     "of "
     "it was CE-marked or sent again in that bin.",
     "Spread the exchange over time (receiver-driven admission, fewer channels), and check that "
     "ECN "
     "acts before the buffer is full.",
     {Need::one_tap, Need::times}},
    {"noisy_neighbour",
     Severity::info,
     Urgency::slow,
     "One sender crowds the others out",
     "One host sends most of what reaches this receiver while the data of others to it is marked, "
     "or sent again.",
     "At least 3 senders to one host, one of which has more than noisy_neighbour.share (50 %) of "
     "the bytes, and CE marks or retransmissions on the others' data.",
     "Look whether that sender reacts to CNPs (cnp.ignored), and at its rate limits.",
     {Need::one_tap}},
    {"slowest_qp",
     Severity::info,
     Urgency::slow,
     "One queue pair much slower than its neighbours",
     "Queue pairs between the same two hosts share everything but the path that ECMP gives them, "
     "their memory and their size of messages: a much higher latency points to one of those.",
     "The median ACK or READ latency of one connection is more than slowest_qp.factor (3) times "
     "the median of the others between the same hosts, at least 4 connections with 16 samples "
     "each.",
     "Compare the UDP source ports: does the slow one share a link with other heavy flows?",
     {Need::both_directions, Need::every_packet, Need::one_tap, Need::times}},
};

bool carries_data(const HalfFlow& flow) {
  return is_traffic(flow) && flow.payload_bytes > 0;
}

// Packets sent again for a loss. In a sample of the packets nobody knows.
u64 resent_in(const TraceView& trace, const HalfFlow& flow) {
  return trace.sampled ? 0 : resent_for_loss(flow.requests.trouble_counts());
}

/// What one host got in one time bin.
struct Bin {
  u32 senders = 0;  // hosts
  u64 trouble = 0;  // CE marks and retransmissions
};
using Bins = std::array<Bin, BinClock::kMostBins>;

void judge_receiver(const TraceView& trace, u32 receiver, const Bins& bins, Findings& out) {
  u64 crowded = 0, trouble = 0;
  u32 most = 0;
  std::size_t worst = 0;
  for (std::size_t number = 0; number < bins.size(); number++) {
    const Bin& bin = bins[number];
    if (bin.trouble == 0 || bin.senders < trace.limit("incast.senders")) continue;
    crowded++;
    trouble += bin.trouble;
    if (bin.senders > most) most = bin.senders, worst = number;
  }
  if (crowded == 0) return;
  const u64 width = trace.tracker.clock().width();
  const u64 start = trace.tracker.clock().start() + worst * width;
  Finding finding{&kKinds[0], Severity::warning, {Scope::Of::host, receiver, 0}, {}, {}, {}};
  finding.seen.count = crowded;
  finding.text = fmt::format(
      "{}: up to {} hosts sent to it within {}, {}; {} of their packets "
      "were marked or sent again in {}.",
      trace.address(receiver), most, human::duration(width), moment(trace, start),
      human::grouped(trouble), plural(crowded, "such bin", "such bins"));
  finding.evidence = {{"receiver", trace.address(receiver)},
                      {"most_senders", u64{most}},
                      {"bins", crowded},
                      {"bin_ns", width},
                      {"marked_or_resent", trouble}};
  out.found.push_back(std::move(finding));
}

// Adds what `flow` sent to `bins`, and to `sent` in which of them that was data.
void add_bins(const TraceView& trace, const HalfFlow& flow, Bins& bins,
              std::bitset<BinClock::kMostBins>& sent) {
  // Of a responder that is not ready no link is to blame. Which bins they are of is not kept.
  const bool lossy = resent_in(trace, flow) > 0;
  BinTotals before;
  for (const TimeBins::Bin& bin : flow.bins.all()) {
    const BinTotals& now = bin.totals;
    if (now.payload_bytes > before.payload_bytes) {
      sent.set(bin.number);
      u64& trouble = bins[bin.number].trouble;
      trouble += now.ce - std::min(before.ce, now.ce);
      if (lossy)
        trouble += now.retransmissions - std::min(before.retransmissions, now.retransmissions);
    }
    before = now;
  }
}

void judge_incast(const TraceView& trace, Findings& out) {
  std::vector<const HalfFlow*> flows;
  trace.each_flow([&](const HalfFlow& flow) {
    if (carries_data(flow)) flows.push_back(&flow);
  });
  const auto hosts = [](const HalfFlow* flow) {
    return std::pair(flow->key.destination, flow->key.source);
  };
  std::ranges::stable_sort(flows, {}, hosts);
  Bins bins{};
  std::bitset<BinClock::kMostBins> sent;
  for (std::size_t i = 0; i < flows.size(); i++) {
    add_bins(trace, *flows[i], bins, sent);
    const bool last = i + 1 == flows.size();
    if (!last && hosts(flows[i + 1]) == hosts(flows[i])) continue;
    for (std::size_t number = 0; number < bins.size(); number++)
      bins[number].senders += sent.test(number);
    sent.reset();
    const u32 receiver = flows[i]->key.destination;
    if (!last && flows[i + 1]->key.destination == receiver) continue;
    judge_receiver(trace, receiver, bins, out);
    bins = {};
  }
}

void judge_neighbours(const TraceView& trace, Findings& out) {
  struct Sender {
    u64 bytes = 0, trouble = 0;
  };
  std::map<u32, std::map<u32, Sender>> receivers;
  trace.each_flow([&](const HalfFlow& flow) {
    if (!carries_data(flow)) return;
    Sender& sender = receivers[flow.key.destination][flow.key.source];
    sender.bytes += flow.payload_bytes;
    sender.trouble += flow.ce_marked + resent_in(trace, flow);
  });
  for (const auto& [receiver, senders] : receivers) {
    if (senders.size() < 3) continue;
    u64 all = 0, trouble = 0;
    const auto loudest =
        std::ranges::max_element(senders, {}, [](const auto& entry) { return entry.second.bytes; });
    for (const auto& [address, sender] : senders) {
      all += sender.bytes;
      if (address != loudest->first) trouble += sender.trouble;
    }
    const double share = ratio(loudest->second.bytes, all);
    if (share <= trace.limit("noisy_neighbour.share") || trouble == 0) continue;
    Finding finding{
        &kKinds[1], Severity::info, {Scope::Of::hosts, loudest->first, receiver}, {}, {}, {}};
    finding.seen.count = trouble;
    finding.text = fmt::format(
        "{} sent {:.0f} % of the {} that {} got; {} of the {} others were "
        "marked or sent again.",
        trace.address(loudest->first), 100 * share, human::bytes(all), trace.address(receiver),
        packets(trouble), senders.size() - 1);
    finding.evidence = {{"sender", trace.address(loudest->first)},
                        {"receiver", trace.address(receiver)},
                        {"share", rounded(share, 4)},
                        {"others_marked_or_resent", trouble}};
    out.found.push_back(std::move(finding));
  }
}

void judge_slowest(const TraceView& trace, Findings& out) {
  constexpr u64 kFewSamples = 16;
  constexpr std::size_t kFewConnections = 4;
  for (const Times which : {Times::ack, Times::read}) {
    std::map<std::pair<u32, u32>, std::vector<std::pair<u64, u32>>> pairs;  // median, connection
    for (const Connection& connection : trace.tracker.connections()) {
      const Histogram* times = connection.slot(which).get();
      if (connection.broken || !times || times->count() < kFewSamples) continue;
      if (!std::ranges::binary_search(trace.half_flows, connection.flows[0])) continue;
      const HalfFlow& flow = trace.flow(connection.flows[0]);
      const std::pair hosts = std::minmax(flow.key.source, flow.key.destination);
      pairs[hosts].emplace_back(times->quantile(0.5), connection.id);
    }
    for (auto& [hosts, medians] : pairs) {
      if (medians.size() < kFewConnections) continue;
      std::ranges::sort(medians);
      const auto [slow, id] = medians.back();
      const u64 usual = medians[(medians.size() - 1) / 2].first;
      if (static_cast<double>(slow) <=
          trace.limit("slowest_qp.factor") * static_cast<double>(usual))
        continue;
      const Connection& connection = trace.tracker.connections()[id - 1];
      const HalfFlow& flow = trace.flow(connection.flows[0]);
      Finding finding{&kKinds[2], Severity::info, {Scope::Of::connection, id, 0}, {}, {}, {}};
      finding.seen = {connection.slot(which)->count(), flow.first_frame, flow.last_frame,
                      flow.first_time, flow.last_time};
      finding.half_flows = {connection.flows[0], connection.flows[1]};
      finding.text = fmt::format(
          "{}: {} in the median, where the {} connections between these "
          "hosts have {}.",
          name_of(trace, flow), human::duration(slow), medians.size(), human::duration(usual));
      finding.evidence = identity(trace, flow);
      finding.evidence.emplace_back("latency", std::string(which == Times::ack ? "ack" : "read"));
      finding.evidence.emplace_back("median_ns", slow);
      finding.evidence.emplace_back("median_of_all_ns", usual);
      finding.evidence.emplace_back("connections", u64{medians.size()});
      out.found.push_back(std::move(finding));
    }
  }
}

void judge(const TraceView& trace, Findings& out) {
  judge_incast(trace, out);
  judge_neighbours(trace, out);
  judge_slowest(trace, out);
}

}  // namespace

extern const CatalogEntry kFairness;
constinit const CatalogEntry kFairness = {kKinds, judge};

}  // namespace rocetrace
