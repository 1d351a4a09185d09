// SPDX-License-Identifier: BSD-3-Clause
// How hosts address each other: path.gid_mismatch, path.ip_on_two_macs, path.asymmetric,
// path.pkey_mismatch. Judged on a sample of frames, since the tracker knows no MAC addresses.

#include <bit>
#include <map>
#include <set>

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"
#include "roce/net/layers.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;
using Mac = std::array<u8, 6>;

constexpr FindingKind kKinds[] = {
    {"path.gid_mismatch",
     Severity::warning,
     Urgency::dead,
     "RoCEv1 and v2 between the same hosts",
     "The two ends picked GIDs of different kinds: a packet of the other version is not for the "
     "queue pair that waits for it, so it is never answered.",
     "Packets of both RoCE versions between two addresses; an error when one of them is never "
     "answered.",
     "Set the GID index by hand on both ends (NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX) to one of type "
     "RoCE v2: see show_gids or /sys/class/infiniband/*/ports/*/gid_attrs/types.",
     {}},
    {"path.ip_on_two_macs",
     Severity::warning,
     Urgency::broken,
     "One address on several MACs",
     "Two ports in one subnet answer for each other's address (ARP flux), the address is used "
     "twice, or it moved. Packets that arrive at the wrong port are dropped by its NIC.",
     "Packets with the same source address and VLAN, and different source MACs, with the same TTL.",
     "Set arp_announce=2, arp_ignore=1 and rp_filter for hosts with two ports in a subnet, or give "
     "each port its own; for bonds and routers several MACs can be right.",
     {Need::ethernet, Need::one_tap}},
    {"path.asymmetric",
     Severity::info,
     Urgency::fact,
     "Two directions take different ports",
     "Requests and answers of a connection use different MAC pairs: they leave through another "
     "port than they come in, or are routed differently.",
     "The MAC addresses of one direction are not those of the other, swapped.",
     "On routed fabrics this is usual. Within a subnet look for ARP flux or a wrong route.",
     {Need::both_directions, Need::ethernet, Need::one_tap}},
    {"path.pkey_mismatch",
     Severity::error,
     Urgency::broken,
     "Partition keys that do not match",
     "The two ends use different P_Keys, or both are limited members of one: each drops what the "
     "other sends.",
     "The low 15 bits of the P_Keys of a connection's directions differ, or neither has its top "
     "bit "
     "set (IBTA vol 1, 10.9.3).",
     "RoCE knows one partition as a rule: use P_Key 0xffff, index 0, on both ends.",
     {Need::both_directions}},
};
enum : std::size_t { kGid, kMacs, kAsymmetric, kPkey };

std::string text_of(const Mac& mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3],
                     mac[4], mac[5]);
}

class PathHosts : public Detector {
 public:
  void on_packet(const Event& event) override {
    if (event.arrival.flow == 0 || links_.size() >= kMost) return;
    roce::net::Path path;
    const auto at = roce::net::walk(event.bytes, event.wire_size, event.link_type, path);
    Link& link = links_[event.arrival.flow];
    if (const auto bth = roce::read<roce::Bth>(at.bytes)) link.pkey = bth->pkey;
    if (!path.has_macs) return;
    link.source = path.source_mac;
    link.destination = path.destination_mac;
    link.known = true;
    if (path.tunnels > 0) return;
    const u16 vlan = path.has_vlan ? static_cast<u16>(path.vlan & 0x0fff) : u16{0xffff};
    auto& macs = senders_[{event.packet.source, vlan, event.packet.ttl}];
    if (macs.size() < kMostMacs) macs[path.source_mac].add(event.packet.frame, event.packet.time);
  }

  void on_end(const TraceView& trace, Findings& out) override {
    judge_versions(trace, out);
    judge_macs(trace, out);
    judge_directions(trace, out);
    judge_pkeys(trace, out);
  }

 private:
  static constexpr std::size_t kMost = 1u << 16;  // half-flows looked at
  static constexpr std::size_t kMostMacs = 16;
  struct Link {
    Mac source{}, destination{};
    bool known = false;
    std::optional<u16> pkey;
  };

  static void judge_versions(const TraceView& trace, Findings& out) {
    struct Both {
      u32 flow[3] = {};
      u64 packets[3] = {};
      bool back[3] = {};
    };
    std::map<std::pair<std::string, std::string>, Both> pairs;
    trace.each_flow([&](const HalfFlow& flow) {
      const u8 version = flow.key.version();
      if (version < 1 || version > 2 || is_multicast(trace, flow)) return;
      std::string from = host_of(trace, flow.key.source), to = host_of(trace, flow.key.destination);
      const bool turned = to < from;
      Both& both = pairs[turned ? std::pair(to, from) : std::pair(from, to)];
      if (both.flow[version] == 0) both.flow[version] = flow.id;
      const HalfFlow& first = trace.flow(both.flow[version]);
      both.packets[version] += flow.packets();
      if (host_of(trace, first.key.source) != from) both.back[version] = true;
    });
    for (const auto& [hosts, both] : pairs) {
      if (both.flow[1] == 0 || both.flow[2] == 0) continue;
      const HalfFlow& v1 = trace.flow(both.flow[1]);
      const HalfFlow& v2 = trace.flow(both.flow[2]);
      const bool unanswered = !both.back[1] || !both.back[2];
      Finding finding{&kKinds[kGid],
                      unanswered ? Severity::error : Severity::warning,
                      {Scope::Of::hosts, v2.key.source, v2.key.destination},
                      {},
                      {},
                      {}};
      finding.seen = {both.packets[1] + both.packets[2], std::min(v1.first_frame, v2.first_frame),
                      std::max(v1.last_frame, v2.last_frame),
                      std::min(v1.first_time, v2.first_time), std::max(v1.last_time, v2.last_time)};
      finding.half_flows = {v1.id, v2.id};
      finding.text =
          fmt::format("{} and {} exchange RoCEv1 ({}{}) and RoCEv2 ({}{}).", hosts.first,
                      hosts.second, packets(both.packets[1]), both.back[1] ? "" : ", one way only",
                      packets(both.packets[2]), both.back[2] ? "" : ", one way only");
      finding.evidence = {{"v1_packets", both.packets[1]},
                          {"v2_packets", both.packets[2]},
                          {"v1_both_ways", both.back[1]},
                          {"v2_both_ways", both.back[2]}};
      out.found.push_back(std::move(finding));
    }
  }

  // Where one frame of many has one bit turned over, that is damage: no checksum that is captured
  // covers MACs.
  static std::map<Mac, Sightings> undamaged(std::map<Mac, Sightings> macs) {
    constexpr u64 kMany = 16;
    const auto bits_apart = [](const Mac& one, const Mac& other) {
      int bits = 0;
      for (std::size_t i = 0; i < one.size(); i++)
        bits += std::popcount(static_cast<u8>(one[i] ^ other[i]));
      return bits;
    };
    const auto is_damage = [&](const auto& rare) {
      return rare.second.count == 1 && std::ranges::any_of(macs, [&](const auto& usual) {
               return usual.second.count >= kMany && bits_apart(usual.first, rare.first) == 1;
             });
    };
    std::vector<Mac> damaged;
    for (const auto& entry : macs)
      if (is_damage(entry)) damaged.push_back(entry.first);
    for (const Mac& mac : damaged) macs.erase(mac);
    return macs;
  }

  void judge_macs(const TraceView& trace, Findings& out) const {
    std::set<u32> told;
    for (const auto& [sender, seen_macs] : senders_) {
      const u32 address = std::get<0>(sender);
      const std::map<Mac, Sightings> macs = undamaged(seen_macs);
      if (macs.size() < 2 || !told.insert(address).second) continue;
      Finding finding{&kKinds[kMacs], Severity::warning, {Scope::Of::host, address, 0}, {}, {}, {}};
      std::string list;
      for (const auto& [mac, seen] : macs) {
        list += fmt::format("{}{}", list.empty() ? "" : ", ", text_of(mac));
        finding.seen.merge(seen);
      }
      finding.text = fmt::format("{} sends from {} MAC addresses: {}.", trace.address(address),
                                 macs.size(), list);
      finding.evidence = {{"address", trace.address(address)}, {"macs", list}};
      out.found.push_back(std::move(finding));
    }
  }

  void judge_directions(const TraceView& trace, Findings& out) const {
    std::vector<Case> cases;
    trace.each_flow([&](const HalfFlow& flow) {
      const HalfFlow* back = trace.partner(flow);
      if (!back || back->id < flow.id) return;
      const auto one = links_.find(flow.id), other = links_.find(back->id);
      if (one == links_.end() || other == links_.end()) return;
      if (!one->second.known || !other->second.known) return;
      if (one->second.source == other->second.destination &&
          one->second.destination == other->second.source)
        return;
      cases.push_back({flow.id,
                       Severity::info,
                       static_cast<double>(flow.packets()),
                       {1, flow.first_frame, flow.last_frame, flow.first_time, flow.last_time}});
    });
    const Tell tell = [&](const Case& one) {
      const HalfFlow& flow = trace.flow(one.half_flow);
      const Link& there = links_.at(flow.id);
      const Link& back = links_.at(flow.partner);
      Told told{fmt::format("{}: {} to {} this way, {} to {} back.", name_of(trace, flow),
                            text_of(there.source), text_of(there.destination), text_of(back.source),
                            text_of(back.destination)),
                identity(trace, flow)};
      told.evidence.emplace_back("source_mac", text_of(there.source));
      told.evidence.emplace_back("destination_mac", text_of(there.destination));
      told.evidence.emplace_back("source_mac_back", text_of(back.source));
      told.evidence.emplace_back("destination_mac_back", text_of(back.destination));
      return told;
    };
    report_cases(trace, kKinds[kAsymmetric], std::move(cases), tell, out);
  }

  void judge_pkeys(const TraceView& trace, Findings& out) const {
    std::vector<Case> cases;
    const auto pkey_of = [&](u32 id) -> std::optional<u16> {
      const auto link = links_.find(id);
      return link != links_.end() ? link->second.pkey : std::nullopt;
    };
    trace.each_flow([&](const HalfFlow& flow) {
      const HalfFlow* back = trace.partner(flow);
      if (!back || back->id < flow.id || !is_traffic(flow)) return;
      const auto one = pkey_of(flow.id), other = pkey_of(back->id);
      if (!one || !other) return;
      const bool same = (*one & 0x7fff) == (*other & 0x7fff);
      const bool a_member = (*one | *other) & 0x8000;
      if (same && a_member) return;
      cases.push_back({flow.id,
                       Severity::error,
                       static_cast<double>(flow.packets()),
                       {1, flow.first_frame, flow.last_frame, flow.first_time, flow.last_time}});
    });
    const Tell tell = [&](const Case& one) {
      const HalfFlow& flow = trace.flow(one.half_flow);
      Told told{fmt::format("{}: P_Key {:#06x} this way and {:#06x} back.", name_of(trace, flow),
                            *pkey_of(flow.id), *pkey_of(flow.partner)),
                identity(trace, flow)};
      told.evidence.emplace_back("pkey", u64{*pkey_of(flow.id)});
      told.evidence.emplace_back("pkey_back", u64{*pkey_of(flow.partner)});
      return told;
    };
    report_cases(trace, kKinds[kPkey], std::move(cases), tell, out);
  }

  std::map<u32, Link> links_;                                             // by half-flow
  std::map<std::tuple<u32, u16, u8>, std::map<Mac, Sightings>> senders_;  // address, VLAN, TTL
};

}  // namespace

extern const CatalogEntry kPathHosts;
constinit const CatalogEntry kPathHosts = {kKinds, nullptr, make_detector<PathHosts>};

}  // namespace rocetrace
