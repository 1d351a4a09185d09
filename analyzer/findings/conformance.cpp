// SPDX-License-Identifier: BSD-3-Clause
// conformance: what the specification does not let an end do.

#include <unordered_map>

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"conformance",
     Severity::info,
     Urgency::fact,
     "Behaviour outside the specification",
     "One end does what the other need not understand: a bug of a NIC, of soft RoCE or an FPGA "
     "design, or a device that changes packets. Some are known and harmless habits.",
     "A second sequence NAK for one PSN with nothing sent again between; a sequence NAK for a PSN "
     "that was acknowledged before; a resend that starts in front of the NAK's PSN; an ACK that "
     "goes back; a Middle or Last packet without a First; a "
     "First or Middle packet whose payload is no path MTU; a READ answered with another length "
     "than "
     "was asked for.",
     "Compare the NIC models and firmware of the two ends, and report it to the vendor with the "
     "frames named here.",
     {Need::every_packet, Need::one_tap}},
};

/// What NAKs and resends of one requester were seen.
struct Memory {
  u32 nak_psn = 0;
  u64 nak_time = 0;
  u64 resend_time = 0;
  u32 last_episode = 0;
  Sightings repeated_naks;
  Sightings early_resends;
};

class Conformance : public Detector {
 public:
  void on_packet(const Event& event) override {
    const Observation& packet = event.packet;
    if (event.arrival.flow == 0) return;
    if (event.arrival.packet_class == PacketClass::retransmission) {
      Memory& memory = of(event.arrival.flow);
      const bool restart = event.arrival.episode != memory.last_episode;
      const bool asked = memory.nak_time > memory.resend_time;
      if (restart && asked && roce::distance(roce::Psn(packet.psn), roce::Psn(memory.nak_psn)) > 0)
        memory.early_resends.add(packet.frame, packet.time);
      memory.last_episode = event.arrival.episode;
      memory.resend_time = packet.time;
      return;
    }
    if (event.arrival.stream != StreamKind::response || !packet.has(kHasAeth)) return;
    if (event.arrival.packet_class == PacketClass::duplicate_capture) return;
    const roce::Syndrome syndrome(packet.syndrome());
    const bool sequence = syndrome.is_nak() && syndrome.nak_code() == roce::NakCode::sequence;
    const u32 asker = event.tracker.flows().at(event.arrival.flow).partner;
    if (asker == 0 || !(sequence || syndrome.is_rnr_nak())) return;
    Memory& memory = of(asker);
    // A refusal shows that the packet had come again, though the tap may not have seen it yet.
    if (!sequence) memory.nak_time = 0;
    if (!sequence) return;
    if (memory.nak_time != 0 && memory.nak_psn == packet.psn &&
        memory.resend_time < memory.nak_time)
      memory.repeated_naks.add(packet.frame, packet.time);
    memory.nak_psn = packet.psn;
    memory.nak_time = packet.time;
  }

  void on_end(const TraceView& trace, Findings& out) override {
    std::vector<Case> cases;
    trace.each_flow([&](const HalfFlow& flow) {
      const Sightings seen = breaches_of(flow).second;
      if (seen.count > 0)
        cases.push_back({flow.id, Severity::info, static_cast<double>(seen.count), seen});
    });
    const Tell tell = [&](const Case& one) {
      const HalfFlow& flow = trace.flow(one.half_flow);
      Told told{fmt::format("{}: ", name_of(trace, flow)), identity(trace, flow)};
      bool first = true;
      for (const auto& [name, what, count] : breaches_of(flow).first) {
        told.text += fmt::format("{}{} ({})", first ? "" : "; ", what, human::grouped(count));
        told.evidence.emplace_back(name, count);
        first = false;
      }
      told.text += '.';
      return told;
    };
    report_cases(trace, kKinds[0], std::move(cases), tell, out);
  }

 private:
  static constexpr std::size_t kMost = 1u << 18;
  struct Breach {
    std::string name;
    std::string_view what;
    u64 count = 0;
  };

  Memory& of(u32 flow) {
    if (memories_.size() >= kMost && !memories_.contains(flow)) return beyond_ = {};
    return memories_[flow];
  }

  std::pair<std::vector<Breach>, Sightings> breaches_of(const HalfFlow& flow) const {
    std::pair<std::vector<Breach>, Sightings> out;
    const auto add = [&](const char* name, std::string_view what, const Sightings& seen) {
      if (seen.count == 0) return;
      out.first.push_back({name, what, seen.count});
      out.second.merge(seen);
    };
    if (const auto memory = memories_.find(flow.id); memory != memories_.end()) {
      add("repeated_naks", "sequence NAKs were repeated with nothing sent again between",
          memory->second.repeated_naks);
      add("early_resends", "resends began in front of the PSN that the NAK asked for",
          memory->second.early_resends);
    }
    if (!flow.rare_state) return out;
    const Breaches& breaches = flow.rare_state->breaches;
    const auto count = [&](u64 how_many) {
      // Some are noted of the half-flow that asked, and seen in the answer.
      const u64 last_frame = std::max(breaches.first_frame, flow.last_frame);
      return Sightings{how_many, breaches.first_frame, last_frame, flow.first_time, flow.last_time};
    };
    add("acks_back", "ACKs went back to an earlier PSN", count(breaches.acks_back));
    add("naks_back", "sequence NAKs asked for what had been acknowledged",
        count(breaches.naks_back));
    add("headless_messages", "messages began without a First packet", count(breaches.headless));
    add("odd_sizes", "First or Middle packets had a payload that is no path MTU",
        count(breaches.odd_sizes));
    add("read_lengths", "READs were answered with another length than asked for",
        count(breaches.read_lengths));
    return out;
  }

  Memory beyond_;                             // of half-flows that there is no room for
  std::unordered_map<u32, Memory> memories_;  // by requester's half-flow
};

}  // namespace

extern const CatalogEntry kConformance;
constinit const CatalogEntry kConformance = {kKinds, nullptr, make_detector<Conformance>};

}  // namespace rocetrace
