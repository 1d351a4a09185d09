// SPDX-License-Identifier: BSD-3-Clause
// capture.loss: packets that the hosts exchanged and the capture missed. Never counted as network
// loss.

#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

using roce::flow::HalfFlow;

constexpr FindingKind kKinds[] = {
    {"capture.loss",
     Severity::warning,
     Urgency::setting,
     "The capture itself lost packets",
     "The capture program, its host or the mirror port could not keep up. Gaps near by may be of "
     "that making and not the network's; they are kept out of all counts of loss.",
     "PSNs that the tap never saw, that the responder acknowledged all the same, and that were "
     "never sent again; READ responses never seen and never asked for again; gaps in the "
     "sequence numbers that ERSPAN or GRE give mirrored packets; or drop counts of the capture "
     "file itself.",
     "Capture with a larger buffer (tcpdump -B), fewer bytes per packet (-s 128 is enough), to a "
     "faster disk, or at a tap; check the mirror port's own drop counter.",
     {Need::answers_or_drops}},
};

struct Missed {
  u64 psns = 0;       // of requests
  u64 responses = 0;  // packets of READ answers
  u64 flows = 0;
  Sightings seen;
};

// What is still missing of the READ answers to a half-flow that moved on.
u64 missed_responses(const TraceView& trace, const HalfFlow& flow) {
  const auto* gaps = flow.responses.gaps();
  const HalfFlow* asker = trace.partner(flow);
  if (!gaps || !asker || !asker->requests.acknowledged_any()) return 0;
  const u64 latest = trace.log(flow).of(Happening::response_gap).last_time;
  // The trace ends before it can be seen whether the latest gap is filled.
  const bool open = trace.end < latest + static_cast<u64>(trace.limit("loss.unrecovered.wait"));
  const Resending* resending = trace.log(*asker).resending();
  const auto asked_again = [&](roce::Psn psn) {
    return resending && resending->series.seen.last_time >= latest &&
           roce::distance(roce::Psn(resending->series.psn), psn) >= 0;
  };
  u64 missed = 0;
  roce::Psn last;
  for (const roce::flow::PsnRange& hole : gaps->holes) last = hole.first;
  for (const roce::flow::PsnRange& hole : gaps->holes)
    if (roce::distance(hole.end(), asker->requests.una()) >= 0 && asker->waiting.empty() &&
        !asked_again(hole.first) && !(open && hole.first == last))
      missed += hole.count;
  return missed;
}

Missed missed_in(const TraceView& trace) {
  Missed out;
  trace.each_flow([&](const HalfFlow& flow) {
    const u64 psns = flow.requests.trouble_counts().capture_missed_psns;
    const u64 responses = missed_responses(trace, flow);
    if (psns + responses == 0) return;
    out.psns += psns;
    out.responses += responses;
    out.flows++;
    out.seen.merge(trace.log(flow).of(psns > 0 ? Happening::gap : Happening::response_gap));
  });
  return out;
}

void judge(const TraceView& trace, Findings& out) {
  // Without every packet in its order only the drop counts mean something.
  const Missed missed = trace.sampled || !trace.is_ordered() ? Missed{} : missed_in(trace);
  u64 dropped = 0, mirror_missing = 0;
  for (const CaptureFacts& capture : trace.captures) {
    dropped += capture.dropped_packets.value_or(0);
    if (!trace.sampled) mirror_missing += capture.mirror_missing;
  }
  if (missed.psns + missed.responses + dropped + mirror_missing == 0) return;

  Finding finding;
  finding.kind = &kKinds[0];
  finding.severity = kKinds[0].severity;
  finding.seen = missed.seen;
  // Some may be counted by more than one of these.
  finding.seen.count = std::max({missed.psns + missed.responses, dropped, mirror_missing});
  if (missed.psns + missed.responses > 0)
    finding.text = fmt::format(
        "{} of {} {} never seen here, yet did arrive: {} acknowledged or answered, and not sent "
        "again.",
        packets(missed.psns + missed.responses), plural(missed.flows, "half-flow", "half-flows"),
        missed.psns + missed.responses == 1 ? "was" : "were",
        missed.psns + missed.responses == 1 ? "it was" : "they were");
  if (dropped > 0)
    finding.text += fmt::format("{}The capture's own statistics count {} dropped.",
                                finding.text.empty() ? "" : " ", packets(dropped));
  if (mirror_missing > 0)
    finding.text += fmt::format("{}By the mirror's sequence numbers {} missing.",
                                finding.text.empty() ? "" : " ",
                                plural(mirror_missing, "packet is", "packets are"));
  finding.evidence = {{"missed_psns", missed.psns},
                      {"missed_responses", missed.responses},
                      {"half_flows", missed.flows}};
  if (dropped > 0) finding.evidence.emplace_back("dropped_by_capture", dropped);
  if (mirror_missing > 0) finding.evidence.emplace_back("missing_of_mirror", mirror_missing);
  out.found.push_back(std::move(finding));

  for (u32 i = 0; i < trace.captures.size(); i++) {
    const u64 own = trace.captures[i].dropped_packets.value_or(0);
    if (own > 0)
      out.distrust.push_back(
          {i, true,
           fmt::format("It lost packets: its own statistics count {} dropped.", packets(own))});
    if (trace.captures[i].mirror_missing > 0)
      out.distrust.push_back(
          {i, true,
           fmt::format("It lost packets: {} missing by the mirror's sequence "
                       "numbers.",
                       plural(trace.captures[i].mirror_missing, "packet is", "packets are"))});
    // Which of several files missed an acknowledged packet cannot be told.
    if (missed.psns + missed.responses > 0)
      out.distrust.push_back({i, true,
                              fmt::format("It lost packets: {} that hosts exchanged {} not in it.",
                                          packets(missed.psns + missed.responses),
                                          missed.psns + missed.responses == 1 ? "is" : "are")});
  }
}

}  // namespace

extern const CatalogEntry kCaptureLoss;
constinit const CatalogEntry kCaptureLoss = {kKinds, judge};

}  // namespace rocetrace
