// SPDX-License-Identifier: BSD-3-Clause
#include "surroundings.hpp"

#include <algorithm>
#include <tuple>

#include "roce/net/observe.hpp"
#include "roce/net/pause_frame.hpp"
#include "roce/net/sflow.hpp"

namespace rocetrace {

using roce::Bytes;
using roce::u32;
using roce::u64;
using roce::u8;

namespace {

Mac number(const std::array<u8, 6>& octets) {
  Mac mac = 0;
  for (const u8 octet : octets) mac = mac << 8 | octet;
  return mac;
}

// The value of `key`, which is added while there is room; null beyond.
template <class Key, class Value>
Value* entry(std::map<Key, Value>& map, const Key& key) {
  const auto at = map.find(key);
  if (at != map.end()) return &at->second;
  return map.size() < Surroundings::kMost ? &map[key] : nullptr;
}

// Adds to a short ascending list without repetitions.
void insert_sorted(std::vector<u32>& list, u32 value, std::size_t most) {
  const auto at = std::ranges::lower_bound(list, value);
  if (at != list.end() && *at == value) return;
  if (list.size() < most) list.insert(at, value);
}

auto order(const roce::net::Address& address) {
  return std::tuple(address.kind, address.octets);
}

// The Ethernet frame that holds what the walk ended at; none for other link types.
Bytes innermost_ethernet(const Frame& frame, const roce::net::Path& path) {
  const auto layers = path.passed();
  for (std::size_t i = layers.size(); i > 0; i--)
    if (layers[i - 1].kind == roce::net::LayerKind::ethernet)
      return frame.bytes.subspan(layers[i - 1].offset);
  return {};
}

bool same(const Surroundings::Port& port, const roce::Lldp& lldp) {
  return port.system == lldp.system_name && port.is_cee == lldp.is_cee && port.pfc == lldp.pfc &&
         port.ets == lldp.ets && std::ranges::equal(port.applications, lldp.priorities());
}

}  // namespace

void Sighted::add(const Frame& frame) {
  if (count++ == 0) {
    first_frame = frame.number;
    first_time = last_time = frame.time;
  }
  last_frame = frame.number;
  first_time = std::min(first_time, frame.time);
  last_time = std::max(last_time, frame.time);
}

bool Surroundings::IcmpKind::operator<(const IcmpKind& other) const {
  const auto all = [](const IcmpKind& kind) {
    return std::tuple(order(kind.reporter), order(kind.source), order(kind.destination), kind.is_v6,
                      kind.type, kind.code);
  };
  return all(*this) < all(other);
}

void Surroundings::observe(const Frame& frame) {
  using roce::net::Space;
  roce::net::Path path;
  const roce::net::Cursor at =
      roce::net::walk_to_unopened(frame.bytes, frame.wire_size, frame.link_type, path);
  if (at.next == roce::net::kIcmp || at.next == roce::net::kIcmpV6) {
    if (const auto error = roce::net::decode_icmp_error(at, path)) note_icmp(frame, *error);
  } else if (at.next == roce::net::Next{Space::ether_type, roce::kMacControlEtherType}) {
    note_pause(frame, innermost_ethernet(frame, path));
  } else if (at.next == roce::net::Next{Space::ether_type, roce::kLldpEtherType}) {
    if (path.has_macs) note_lldp(number(path.source_mac), at.bytes);
  } else if (at.next == roce::net::kSflow) {
    note_sflow(at.bytes);
  }
}

void Surroundings::note_icmp(const Frame& frame, const roce::net::IcmpError& error) {
  IcmpErrors* errors = entry(icmp_errors_, {.reporter = error.reporter,
                                            .source = error.source,
                                            .destination = error.destination,
                                            .is_v6 = error.is_v6,
                                            .type = error.type,
                                            .code = error.code});
  if (!errors) return;
  errors->seen.add(frame);
  if (error.mtu != 0) errors->mtu = error.mtu;
  if (error.bth) insert_sorted(errors->dest_qps, error.bth->dest_qp, kMostQps);
}

void Surroundings::note_pause(const Frame& frame, Bytes ethernet) {
  const auto pause = roce::net::decode_pause(ethernet);
  if (!pause) return;
  const Mac mac = number(pause->source_mac);
  for (u8 priority = 0; priority < static_cast<u8>(pause->time.size()); priority++) {
    if ((pause->enabled >> priority & 1) == 0) continue;
    Pauses* pauses = entry(pauses_, {mac, pause->by_priority ? priority : kAllPriorities});
    if (!pauses) continue;
    pauses->seen.add(frame);
    pauses->meter.observe(frame.time, pause->time[priority], gigabits_);
  }
}

void Surroundings::note_lldp(Mac mac, Bytes body) {
  const roce::Lldp lldp = roce::decode_lldp(body);
  if (!lldp.has_dcbx()) return;
  Port* port = entry(ports_, mac);
  if (!port) return;
  if (port->frames++ > 0) {
    if (same(*port, lldp)) return;
    port->changes++;
  }
  port->port = lldp.port_description.empty() ? lldp.port_id : lldp.port_description;
  port->system = lldp.system_name;
  port->is_cee = lldp.is_cee;
  port->pfc = lldp.pfc;
  port->ets = lldp.ets;
  port->applications.assign(lldp.priorities().begin(), lldp.priorities().end());
}

void Surroundings::note_sflow(Bytes datagram) {
  roce::net::decode_sflow(datagram, [this](const roce::net::SflowSample& sample) {
    roce::flow::Observation seen;
    const u32 size = std::max(sample.frame_size, static_cast<u32>(sample.header.size()));
    if (roce::net::observe_frame(sample.header, size, sample.link_type, sampled_addresses_, seen) !=
        roce::net::Sighting::roce)
      return;
    Samples* samples = entry(samples_, {.source = seen.source,
                                        .destination = seen.destination,
                                        .dest_qp = seen.dest_qp,
                                        .opcode = seen.opcode,
                                        .ecn = seen.ecn()});
    if (!samples) return;
    samples->count++;
    samples->packets += sample.rate;
  });
}

void Surroundings::learn(Mac mac, u32 address) {
  std::vector<u32>* hosts = entry(hosts_, mac);
  if (!hosts || hosts->size() == kMostHosts || std::ranges::count(*hosts, address) > 0) return;
  hosts->push_back(address);
}

void Surroundings::meet(std::span<const Frame> batch, const roce::flow::FlowTable& flows) {
  while (met_ < flows.size()) {
    const roce::flow::HalfFlow& flow = flows.at(++met_);
    const auto frame = std::ranges::lower_bound(batch, flow.first_frame, {}, &Frame::number);
    if (frame == batch.end() || frame->number != flow.first_frame) continue;
    roce::net::Path path;
    roce::net::walk(frame->bytes, frame->wire_size, frame->link_type, path);
    if (!path.has_macs) continue;
    learn(number(path.source_mac), flow.key.source);
    learn(number(path.destination_mac), flow.key.destination);
  }
}

void Surroundings::finish(u64 time) {
  for (auto& [key, pauses] : pauses_) pauses.meter.finish(time);
}

std::span<const u32> Surroundings::hosts_of(Mac mac) const {
  const auto at = hosts_.find(mac);
  return at != hosts_.end() ? std::span<const u32>(at->second) : std::span<const u32>();
}

}  // namespace rocetrace
