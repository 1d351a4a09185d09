// SPDX-License-Identifier: BSD-3-Clause
// What the frames that hold no RoCE tell of the network around it: errors about RoCE packets,
// pauses, the classes of traffic that ports agree on, and samples.
//
// Everything is bounded: beyond kMost entries of a kind, further ones are not kept.

#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/frame.hpp"
#include "roce/flow/observation.hpp"
#include "roce/flow/pause_meter.hpp"
#include "roce/flow/tracker.hpp"
#include "roce/net/address.hpp"
#include "roce/net/icmp_error.hpp"
#include "roce/wire/lldp.hpp"

namespace rocetrace {

/// A MAC address as a number: 48 bits.
using Mac = roce::u64;

/// When something was seen, and how often.
struct Sighted {
  roce::u64 count = 0;
  roce::u64 first_frame = 0, last_frame = 0;
  roce::u64 first_time = 0, last_time = 0;  // nanoseconds

  void add(const Frame& frame);
};

class Surroundings {
 public:
  /// `gigabits`: how fast the links are, Gbit/s, > 0.
  explicit Surroundings(double gigabits) : gigabits_(gigabits) {}

  /// Takes a frame that holds no RoCE packet. Frames come in the order of the trace.
  void observe(const Frame& frame);

  /// Learns which hosts the MACs of a batch belong to, from the half-flows that it began.
  void meet(std::span<const Frame> batch, const roce::flow::FlowTable& flows);

  /// The end of the trace, in nanoseconds.
  void finish(roce::u64 time);

  struct IcmpKind {
    roce::net::Address reporter, source, destination;
    bool is_v6 = false;
    roce::u8 type = 0, code = 0;
    bool operator<(const IcmpKind& other) const;
  };
  struct IcmpErrors {
    Sighted seen;
    roce::u32 mtu = 0;                // as named last; 0: not said
    std::vector<roce::u32> dest_qps;  // quoted, ascending
  };
  const std::map<IcmpKind, IcmpErrors>& icmp_errors() const { return icmp_errors_; }

  static constexpr roce::u8 kAllPriorities = 8;  // global pause
  struct Pauses {
    Sighted seen;
    roce::flow::PauseMeter meter;
  };
  const std::map<std::pair<Mac, roce::u8>, Pauses>& pauses() const { return pauses_; }
  double gigabits() const { return gigabits_; }

  /// What a port said last.
  struct Port {
    std::string port, system;
    bool is_cee = false;
    std::optional<roce::PfcSetting> pfc;
    std::optional<roce::EtsSetting> ets;
    std::vector<roce::ApplicationPriority> applications;
    roce::u64 frames = 0, changes = 0;
  };
  const std::map<Mac, Port>& ports() const { return ports_; }

  struct SampleKind {
    roce::u32 source = 0, destination = 0;  // of sampled_addresses()
    roce::u32 dest_qp = 0;
    roce::u8 opcode = 0, ecn = 0;
    auto operator<=>(const SampleKind&) const = default;
  };
  struct Samples {
    roce::u64 count = 0;
    roce::u64 packets = 0;  // by the sampling rates
  };
  const std::map<SampleKind, Samples>& samples() const { return samples_; }
  const roce::net::AddressTable& sampled_addresses() const { return sampled_addresses_; }

  /// Ids (of the decoder's table) of addresses whose packets come from or go to this MAC; the first
  /// kMostHosts.
  std::span<const roce::u32> hosts_of(Mac mac) const;

  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostHosts = 4;
  static constexpr std::size_t kMostQps = 16;

 private:
  void note_icmp(const Frame& frame, const roce::net::IcmpError& error);
  void note_pause(const Frame& frame, roce::Bytes ethernet);
  void note_lldp(Mac mac, roce::Bytes body);
  void note_sflow(roce::Bytes datagram);
  void learn(Mac mac, roce::u32 address);

  double gigabits_;
  std::map<IcmpKind, IcmpErrors> icmp_errors_;
  std::map<std::pair<Mac, roce::u8>, Pauses> pauses_;
  std::map<Mac, Port> ports_;
  std::map<SampleKind, Samples> samples_;
  roce::net::AddressTable sampled_addresses_;
  std::map<Mac, std::vector<roce::u32>> hosts_;
  roce::u32 met_ = 0;  // half-flows looked at by meet()
};

}  // namespace rocetrace
