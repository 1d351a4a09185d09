// SPDX-License-Identifier: BSD-3-Clause
// CNPs that are not what they should be: cnp.without_ce, cnp.ignored, cnp.marked_ce, cnp.class.

#include <unordered_map>

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using namespace roce::flow;

constexpr FindingKind kKinds[] = {
    {"cnp.without_ce",
     Severity::info,
     Urgency::setting,
     "CNPs without a CE mark before them",
     "The NIC reacts to something else than ECN: with slow restart or adaptive retransmission "
     "(roce_slow_restart, roce_adp_retrans) a sequence NAK or a timeout makes it send CNPs. Or the "
     "tap lies in front of the switch that marks, and cannot see the marks.",
     "CNPs to a sender none of whose data was seen marked before; on_nak counts those within "
     "cnp.without_ce.on_nak (10 us) of a NAK. A warning when marks were seen elsewhere in the "
     "trace, or most come with NAKs.",
     "Look at roce_slow_restart_cnps and np_ecn_marked_roce_packets of the NIC that sends them; "
     "then treat the loss, not the congestion.",
     {Need::both_directions, Need::every_packet, Need::one_tap}},
    {"cnp.ignored",
     Severity::warning,
     Urgency::setting,
     "A sender that does not slow down",
     "The sender's NIC does not act as reaction point: DCQCN is off for its priority, or the CNPs "
     "do not reach it in a form that it accepts.",
     "Over at least cnp.ignored.cnps (20) CNPs, fewer than cnp.ignored.share (40 %) were followed "
     "by a lower data rate than before.",
     "Switch the reaction point on at the sender (roce_rp/enable for the priority in use); its NIC "
     "counts rp_cnp_handled and rp_cnp_ignored.",
     {Need::both_directions, Need::every_packet, Need::one_tap, Need::times}},
    {"cnp.marked_ce",
     Severity::info,
     Urgency::slow,
     "CNPs that were marked themselves",
     "CNPs share a congested queue: the news of congestion waits in congestion.",
     "CNPs with ECN codepoint CE.",
     "Give CNPs a class of their own with strict priority (DSCP 48 by default).",
     {}},
    {"cnp.class",
     Severity::info,
     Urgency::setting,
     "CNPs in the class of the data",
     "CNPs carry the DSCP of the data, so they wait in the same queues and are paused with them.",
     "The DSCP of CNPs is that of the data they are about.",
     "Set the CNP's DSCP (roce_np/cnp_dscp, 48 by default) and map it to a queue with priority.",
     {Need::both_directions}},
};

struct Seen {
  Sightings marked;  // CNPs that were CE-marked
  Sightings on_nak;  // CNPs soon after a NAK
  u64 last_nak = 0;  // time
  u64 of_data_class = 0;
  u8 dscp = 0;
};

class OddCnps : public Detector {
 public:
  explicit OddCnps(const Circumstances& circumstances)
      : on_nak_(static_cast<u64>(circumstances.limits["cnp.without_ce.on_nak"])) {}

  void on_packet(const Event& event) override {
    const Observation& packet = event.packet;
    if (event.arrival.flow == 0) return;
    if (event.arrival.stream == StreamKind::response) {
      const bool no_ack = packet.has(kHasAeth) && !roce::Syndrome(packet.syndrome()).is_ack();
      if (no_ack) seen_[event.arrival.flow].last_nak = packet.time;
      return;
    }
    if (event.arrival.stream != StreamKind::cnp) return;
    Seen& seen = seen_[event.arrival.flow];
    seen.dscp = packet.dscp();
    if (packet.ecn() == 3) seen.marked.add(packet.frame, packet.time);
    if (seen.last_nak != 0 && packet.time - std::min(seen.last_nak, packet.time) <= on_nak_)
      seen.on_nak.add(packet.frame, packet.time);
    const u32 data = event.tracker.flows().at(event.arrival.flow).partner;
    if (data != 0 && event.tracker.flows().at(data).marking.tos >> 2 == packet.dscp())
      seen.of_data_class++;
  }

  void on_end(const TraceView& trace, Findings& out) override {
    judge_without_ce(trace, out);
    judge_ignored(trace, out);
    judge_marked(trace, out);
    judge_class(trace, out);
  }

 private:
  const Seen& seen(u32 flow) const {
    static const Seen kNone{};
    const auto found = seen_.find(flow);
    return found != seen_.end() ? found->second : kNone;
  }

  void judge_without_ce(const TraceView& trace, Findings& out) const {
    bool marks_seen = false;
    trace.each_flow([&](const HalfFlow& flow) { marks_seen = marks_seen || flow.ce_marked > 0; });
    std::vector<Case> cases;
    trace.each_flow([&](const HalfFlow& flow) {
      const u64 count = flow.rare_state ? flow.rare_state->cnp.without_ce : 0;
      if (count == 0) return;
      Sightings sightings = trace.log(flow).of(Happening::cnp);
      sightings.count = count;
      const bool odd = marks_seen || 2 * seen(flow.id).on_nak.count > count;
      cases.push_back({flow.id, odd ? Severity::warning : Severity::info,
                       static_cast<double>(count), sightings});
    });
    const Tell tell = [&](const Case& one) {
      const HalfFlow& flow = trace.flow(one.half_flow);
      const HalfFlow* data = trace.partner(flow);
      const HalfFlow& named = data ? *data : flow;
      const u64 on_nak = seen(flow.id).on_nak.count;
      Told told{
          fmt::format("{} sent {} to the sender of {} with no CE mark seen before them{}.{}",
                      trace.address(flow.key.source), plural(one.seen.count, "CNP", "CNPs"),
                      name_of(trace, named),
                      on_nak > 0 ? fmt::format(", {} within {} of a NAK", human::grouped(on_nak),
                                               human::duration(on_nak_))
                                 : "",
                      marks_seen ? "" : " No mark was seen in the whole trace."),
          identity(trace, named)};
      told.evidence.emplace_back("cnps", flow.rare_state->cnp.packets);
      told.evidence.emplace_back("without_ce", one.seen.count);
      told.evidence.emplace_back("on_nak", on_nak);
      return told;
    };
    report_cases(trace, kKinds[0], std::move(cases), tell, out);
  }

  void judge_ignored(const TraceView& trace, Findings& out) const {
    std::vector<Case> cases;
    trace.each_flow([&](const HalfFlow& flow) {
      if (!flow.rare_state || !trace.partner(flow)) return;
      const CnpState& cnp = flow.rare_state->cnp;
      const u64 judged = u64{cnp.rate_cut} + cnp.rate_kept;
      if (static_cast<double>(judged) < trace.limit("cnp.ignored.cnps")) return;
      const double share = ratio(cnp.rate_cut, judged);
      if (share >= trace.limit("cnp.ignored.share")) return;
      cases.push_back({flow.id, Severity::warning, 1 - share, trace.log(flow).of(Happening::cnp)});
    });
    const Tell tell = [&](const Case& one) {
      const HalfFlow& flow = trace.flow(one.half_flow);
      const HalfFlow& data = *trace.partner(flow);
      const CnpState& cnp = flow.rare_state->cnp;
      Told told{fmt::format("{}: after {} of {} the data came as fast as before, or faster.",
                            name_of(trace, data), human::grouped(cnp.rate_kept),
                            plural(u64{cnp.rate_cut} + cnp.rate_kept, "CNP", "CNPs")),
                identity(trace, data)};
      told.evidence.emplace_back("rate_cut", u64{cnp.rate_cut});
      told.evidence.emplace_back("rate_kept", u64{cnp.rate_kept});
      return told;
    };
    report_cases(trace, kKinds[1], std::move(cases), tell, out);
  }

  void judge_marked(const TraceView& trace, Findings& out) const {
    std::vector<Case> cases;
    trace.each_flow([&](const HalfFlow& flow) {
      const Sightings& marked = seen(flow.id).marked;
      if (marked.count > 0)
        cases.push_back({flow.id, Severity::info, static_cast<double>(marked.count), marked});
    });
    const Tell tell = [&](const Case& one) {
      const HalfFlow& flow = trace.flow(one.half_flow);
      Told told{fmt::format("{}: {} of {} were CE-marked.", name_of(trace, flow),
                            human::grouped(one.seen.count),
                            plural(flow.rare_state->cnp.packets, "CNP", "CNPs")),
                identity(trace, flow)};
      told.evidence.emplace_back("marked", one.seen.count);
      told.evidence.emplace_back("cnps", flow.rare_state->cnp.packets);
      return told;
    };
    report_cases(trace, kKinds[2], std::move(cases), tell, out);
  }

  void judge_class(const TraceView& trace, Findings& out) const {
    std::vector<Case> cases;
    trace.each_flow([&](const HalfFlow& flow) {
      const Seen& own = seen(flow.id);
      if (own.of_data_class == 0) return;
      Sightings sightings = trace.log(flow).of(Happening::cnp);
      sightings.count = own.of_data_class;
      cases.push_back({flow.id, Severity::info, static_cast<double>(own.of_data_class), sightings});
    });
    const Tell tell = [&](const Case& one) {
      const HalfFlow& flow = trace.flow(one.half_flow);
      const HalfFlow* data = trace.partner(flow);
      Told told{fmt::format("{} sent {} with DSCP {}, as the data of {} has.",
                            trace.address(flow.key.source), plural(one.seen.count, "CNP", "CNPs"),
                            seen(flow.id).dscp, name_of(trace, data ? *data : flow)),
                identity(trace, data ? *data : flow)};
      told.evidence.emplace_back("cnp_dscp", u64{seen(flow.id).dscp});
      return told;
    };
    report_cases(trace, kKinds[3], std::move(cases), tell, out);
  }

  u64 on_nak_;                          // nanoseconds
  std::unordered_map<u32, Seen> seen_;  // by half-flow that carries the CNPs
};

}  // namespace

extern const CatalogEntry kCnpOdd;
constinit const CatalogEntry kCnpOdd = {kKinds, nullptr, make_detector<OddCnps>};

}  // namespace rocetrace
