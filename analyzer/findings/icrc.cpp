// SPDX-License-Identifier: BSD-3-Clause
// icrc.bad and icrc.bad_sender: packets damaged on their way, told from senders whose ICRC is never
// right.

#include <map>

#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

constexpr FindingKind kKinds[] = {
    {"icrc.bad",
     Severity::warning,
     Urgency::lossy,
     "Damaged packets",
     "Bits were changed between the sender and the tap: a bad cable, transceiver or memory on the "
     "way. Receivers drop such packets, so each of them is a loss.",
     "The ICRC of a packet does not fit its bytes, while nearly all of the same sender do.",
     "Look at FEC, symbol and CRC error counters of the links from the sender to the tap; the "
     "receiver's NIC counts rx_icrc_encapsulated.",
     {Need::whole_packets}},
    {"icrc.bad_sender",
     Severity::info,
     Urgency::setting,
     "A sender whose ICRCs are never right",
     "The packets were captured before the NIC filled the ICRC in (on the sender itself), the "
     "sender computes it wrongly (soft RoCE, FPGA designs), or a device on the way rewrites the "
     "packets: see icrc.rewritten.",
     "At least 8 packets of a sender were checked, and hardly any was right.",
     "If the receivers answer, the captured bytes are not what they got: check where the capture "
     "was made. If they do not, the sender is at fault.",
     {Need::whole_packets}},
};

struct Sender {
  u64 good = 0, bad = 0;
  u32 worst = 0;  // half-flow
  Sightings seen;
};

void judge(const TraceView& trace, Findings& out) {
  constexpr u64 kFew = 8;
  std::map<u32, Sender> senders;
  trace.each_flow([&](const HalfFlow& flow) {
    const u64 bad = flow.rare_state ? flow.rare_state->icrc_bad : 0;
    Sender& sender = senders[flow.key.source];
    sender.good += flow.icrc_good;
    sender.bad += bad;
    if (bad == 0) return;
    sender.seen.merge(trace.log(flow).of(Happening::bad_icrc));
    const auto bad_of = [&](u32 id) { return id == 0 ? 0 : trace.flow(id).rare_state->icrc_bad; };
    if (bad > bad_of(sender.worst)) sender.worst = flow.id;
  });
  for (const auto& [address, sender] : senders) {
    if (sender.bad == 0) continue;
    const bool always = sender.bad >= kFew && sender.good * 20 < sender.bad;
    const FindingKind& kind = kKinds[always ? 1 : 0];
    Finding finding{&kind, kind.severity, {Scope::Of::host, address, 0}, sender.seen, {}, {}};
    finding.seen.count = sender.bad;
    finding.half_flows = {sender.worst};
    finding.text = fmt::format(
        "{} of {} from {} that could be checked had a wrong ICRC; the most "
        "on {}.",
        human::grouped(sender.bad), packets(sender.bad + sender.good), trace.address(address),
        name_of(trace, trace.flow(sender.worst)));
    finding.evidence = {{"sender", trace.address(address)},
                        {"bad", sender.bad},
                        {"checked", sender.bad + sender.good},
                        {"share", rounded(ratio(sender.bad, sender.bad + sender.good), 6)}};
    out.found.push_back(std::move(finding));
  }
}

}  // namespace

extern const CatalogEntry kIcrc;
constinit const CatalogEntry kIcrc = {kKinds, judge};

}  // namespace rocetrace
