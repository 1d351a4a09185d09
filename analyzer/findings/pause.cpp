// SPDX-License-Identifier: BSD-3-Clause
// pfc.storm, pfc.heavy, pfc.not_honoured, pause.global: neighbours that stop each other.

#include <map>
#include <set>

#include "findings/detector.hpp"
#include "findings/words.hpp"
#include "roce/flow/pause_meter.hpp"
#include "roce/net/layers.hpp"
#include "roce/net/pause_frame.hpp"

namespace rocetrace {
namespace {

using roce::flow::PauseMeter;
using Mac = std::array<u8, 6>;

constexpr FindingKind kKinds[] = {
    {"pfc.storm",
     Severity::error,
     Urgency::dead,
     "A port that stops a priority for good",
     "A NIC or switch port that cannot drain keeps its neighbour paused; the pause spreads back "
     "through the fabric, and everything in that priority stands still. Broken or overloaded NICs "
     "and their hosts are the usual source.",
     "One sender keeps a priority paused for more than pfc.storm.share (90 %) of the time over at "
     "least pfc.storm.time (400 ms): SONiC's PFC watchdog has the same defaults.",
     "Go to the device with that MAC: a hung host or NIC; reset it, and enable the PFC watchdog on "
     "the switches.",
     {Need::pause_frames, Need::every_packet, Need::one_tap, Need::times}},
    {"pfc.heavy",
     Severity::warning,
     Urgency::slow,
     "A priority that is paused much",
     "Congestion is handled by pausing instead of by ECN: senders are too fast for the receiver, "
     "and flows to others that share the link wait as well.",
     "A priority is paused for more than pfc.heavy.share (10 %) of the time since its first pause "
     "frame, over at least pfc.heavy.time (10 ms).",
     "Lower the ECN thresholds so that they act before PFC does, and look for an incast or a slow "
     "receiver (PCIe, memory) behind that port.",
     {Need::pause_frames, Need::every_packet, Need::one_tap, Need::times}},
    {"pfc.not_honoured",
     Severity::warning,
     Urgency::setting,
     "Data sent while it was paused",
     "The neighbour does not stop: PFC is not enabled for that priority on it, or it maps the "
     "traffic to another one. The buffers that the pause protects overflow.",
     "Data of the paused priority (VLAN PCP, else DSCP / 8) from another MAC than the pause's, "
     "more "
     "than one largest frame's time into the pause. To be judged at the paused port's link only.",
     "Check PFC and the priority mapping on the sender.",
     {Need::pause_frames, Need::every_packet, Need::one_tap, Need::times}},
    {"pause.global",
     Severity::warning,
     Urgency::setting,
     "Global pause frames",
     "Global flow control stops all priorities of a link at once, and RoCE with everything else. "
     "It "
     "and PFC exclude each other.",
     "Pause frames with MAC control opcode 1.",
     "Switch global pause off (ethtool -A DEV rx off tx off) and use PFC for the RoCE priority.",
     {Need::pause_frames}},
};
enum : std::size_t { kStorm, kHeavy, kNotHonoured, kGlobal };
constexpr u8 kAll = 8;  // stands for the priority of a global pause

std::string text_of(const Mac& mac) {
  return fmt::format("{:02x}:{:02x}:{:02x}:{:02x}:{:02x}:{:02x}", mac[0], mac[1], mac[2], mac[3],
                     mac[4], mac[5]);
}

/// A pause that is in force.
struct Force {
  u64 since = 0;
  u64 until = 0;
};
using Macs = std::pair<Mac, Mac>;  // source and destination of a frame

class Pauses : public Detector {
 public:
  explicit Pauses(const Circumstances& circumstances)
      : gigabits_(std::max(circumstances.limits["link.gbps"], 0.001)) {}

  void on_frame(const OtherFrame& frame) override {
    if (frame.link_type != 1) return;
    const auto pause = roce::net::decode_pause(frame.bytes);
    if (!pause) return;
    for (u8 priority = 0; priority < 8; priority++) {
      if (!(pause->enabled >> priority & 1)) continue;
      const Key key{pause->source_mac, pause->by_priority ? priority : kAll};
      if (paused_.size() >= kMost && !paused_.contains(key)) continue;
      Paused& paused = paused_[key];
      paused.capture = frame.capture;
      paused.seen.add(frame.number, frame.time);
      const u16 quanta = pause->time[priority];
      paused.meter.observe(frame.time, quanta, gigabits_);
      if (quanta == 0) {
        forces_.erase(key);
        continue;
      }
      const auto lasts = static_cast<u64>(quanta * u64{roce::kPauseQuantumBits} / gigabits_);
      Force& force = forces_[key];
      if (force.until < frame.time) force.since = frame.time;
      force.until = frame.time + lasts;
    }
  }

  bool wants_all() const override { return !forces_.empty(); }

  void on_packet(const Event& event) override {
    if (event.link_type != 1 || paused_.empty()) return;
    std::erase_if(forces_,
                  [&](const auto& entry) { return entry.second.until < event.packet.time; });
    roce::net::Path path;
    roce::net::walk(event.bytes, event.wire_size, event.link_type, path);
    if (!path.has_macs || path.tunnels > 0) return;
    const Macs macs{path.source_mac, path.destination_mac};
    if (pairs_.size() < kMost) pairs_.insert(macs);
    const u8 priority = event.packet.has(roce::flow::kHasVlan)
                            ? static_cast<u8>(event.packet.vlan >> 13)
                            : static_cast<u8>(event.packet.dscp() >> 3);
    for (const auto& [key, force] : forces_) {
      if (key.priority != kAll && key.priority != priority) continue;
      // A frame under way is finished, and a sender may take some time to notice (IEEE 802.1Qbb).
      const auto grace = static_cast<u64>(kLargestFrameBits / gigabits_) + kGrace;
      if (event.packet.time <= force.since + grace) continue;
      auto& sent = paused_[key].sent_meanwhile;
      if (sent.size() < kMost || sent.contains(macs))
        sent[macs].add(event.packet.frame, event.packet.time);
    }
  }

  void on_end(const TraceView& trace, Findings& out) override {
    for (auto& [key, paused] : paused_) {
      paused.meter.finish(trace.end);
      tell(trace, key, paused, gigabits_, out);
      tell_unheeded(key, paused, out);
    }
  }

 private:
  static constexpr std::size_t kMost = 1024;
  static constexpr double kLargestFrameBits = 8 * 9216;
  static constexpr u64 kGrace = 2'000;  // nanoseconds
  struct Key {
    Mac sender{};
    u8 priority = 0;
    auto operator<=>(const Key&) const = default;
  };
  struct Paused {
    u16 capture = 0;
    Sightings seen;
    PauseMeter meter;
    std::map<Macs, Sightings> sent_meanwhile;
  };

  // Frames to the one who pauses have to stop. Where that is a switch, whose MAC no data carries,
  // those from the host at the other end of the link do: its MAC is in all of them.
  bool has_to_stop(const Mac& pauser, const Macs& macs) const {
    const auto carries = [](const Macs& pair, const Mac& mac) {
      return pair.first == mac || pair.second == mac;
    };
    if (macs.second == pauser) return true;
    const bool in_data =
        std::ranges::any_of(pairs_, [&](const Macs& pair) { return carries(pair, pauser); });
    return !in_data && std::ranges::all_of(pairs_, [&](const Macs& pair) {
      return carries(pair, macs.first);
    }) && !std::ranges::all_of(pairs_, [&](const Macs& pair) {
      return carries(pair, macs.second);
    });
  }

  void tell_unheeded(const Key& key, const Paused& paused, Findings& out) const {
    Sightings seen;
    Mac sender{};
    for (const auto& [macs, sent] : paused.sent_meanwhile) {
      if (!has_to_stop(key.sender, macs)) continue;
      seen.merge(sent);
      sender = macs.first;
    }
    if (seen.count == 0) return;
    Finding finding{&kKinds[kNotHonoured],
                    Severity::warning,
                    {Scope::Of::capture, paused.capture, 0},
                    seen,
                    {},
                    {}};
    finding.text = fmt::format(
        "{} kept sending: {} while {} had paused {} (counting with {} "
        "Gbit/s).",
        text_of(sender), packets(seen.count), text_of(key.sender),
        key.priority == kAll ? "all traffic" : fmt::format("priority {}", key.priority), gigabits_);
    finding.evidence = {{"sender_mac", text_of(sender)},
                        {"pausing_mac", text_of(key.sender)},
                        {"packets", seen.count},
                        {"link_gbps", gigabits_}};
    if (key.priority != kAll) finding.evidence.emplace_back("priority", u64{key.priority});
    out.found.push_back(std::move(finding));
  }

  static void tell(const TraceView& trace, const Key& key, const Paused& paused, double gigabits,
                   Findings& out) {
    const PauseMeter& meter = paused.meter;
    const u64 watched = std::max(trace.end, meter.last_time()) - meter.first_time();
    const double duty = ratio(meter.paused(), watched);
    const bool storm = duty > trace.limit("pfc.storm.share") &&
                       static_cast<double>(watched) >= trace.limit("pfc.storm.time");
    const std::string what =
        key.priority == kAll ? "all traffic" : fmt::format("priority {}", key.priority);
    const auto add = [&](std::size_t kind) {
      Finding finding{&kKinds[kind],
                      kKinds[kind].severity,
                      {Scope::Of::capture, paused.capture, 0},
                      paused.seen,
                      {},
                      {}};
      finding.text = fmt::format(
          "{} paused {} with {}: for {:.1f} % of {}, at most {} at a stretch (counting with {} "
          "Gbit/s).",
          text_of(key.sender), what, plural(meter.frames(), "frame", "frames"), 100 * duty,
          human::duration(watched), human::duration(meter.longest()), gigabits);
      finding.evidence = {{"source_mac", text_of(key.sender)}, {"frames", meter.frames()},
                          {"paused_ns", meter.paused()},       {"longest_ns", meter.longest()},
                          {"duty", rounded(duty, 4)},          {"link_gbps", gigabits}};
      if (key.priority != kAll) finding.evidence.emplace_back("priority", u64{key.priority});
      out.found.push_back(std::move(finding));
    };
    if (key.priority == kAll) add(kGlobal);
    if (storm) {
      add(kStorm);
    } else if (key.priority != kAll && duty > trace.limit("pfc.heavy.share") &&
               static_cast<double>(watched) >= trace.limit("pfc.heavy.time")) {
      add(kHeavy);
    }
  }

  double gigabits_;
  std::map<Key, Paused> paused_;
  std::map<Key, Force> forces_;
  std::set<Macs> pairs_;  // of RoCE frames, once somebody paused
};

}  // namespace

extern const CatalogEntry kPause;
constinit const CatalogEntry kPause = {kKinds, nullptr, make_detector<Pauses>};

}  // namespace rocetrace
