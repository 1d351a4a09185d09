// SPDX-License-Identifier: BSD-3-Clause
// The words of a report, one row each. See explain.hpp.

#include "report/explain.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "findings/catalog.hpp"
#include "findings/thresholds.hpp"
#include "report/columns.hpp"
#include "report/human.hpp"
#include "report/sink.hpp"
#include "report/text_value.hpp"

namespace rocetrace {
namespace {

constexpr Explanation kExplanations[] = {
    // What a packet is to its stream.
    {"first", "class", "The first request packet of a half-flow that was captured.",
     "No earlier request to this QP is known, or the QP number is used anew: a connection set-up "
     "for it was seen, or the PSN jumped by more than 2^22 after 10 s of silence.",
     "Nothing: counting starts here. What was sent before the capture began cannot be known."},
    {"in_order", "class", "The packet that was expected next.",
     "Its PSN is the one after the last; a READ request counts for as many PSNs as its answer has "
     "packets.",
     "Nothing."},
    {"gap", "class", "PSNs were skipped: packets are missing before this one.",
     "Its PSN is later than expected. The missing range is from the expected PSN to the one before "
     "this. Missing here means: not seen at this tap by then; the packets may have been lost on "
     "the way to the tap, missed by the capture, or come later in another order.",
     "Look at what fills the range later: a retransmission says lost before the tap, reordering "
     "says late, and an acknowledgement without either says that the capture missed it."},
    {"retransmission", "class", "A packet that was sent again.",
     "Its PSN is earlier than expected, and it was either seen here before, or it fills a hole "
     "after a NAK, after a timeout, or in a run that sends already seen PSNs again.",
     "Read its cause (why it was sent again) and its place (where the first copy was lost)."},
    {"reordered", "class", "A packet that came late, in another order than it was sent.",
     "It fills a hole, late by less than 1 ms or two round trips, whichever is more, with no NAK "
     "of it, and nothing already seen was sent again around it.",
     "Look for several paths: packet spraying, adaptive routing, a link aggregate that changed. "
     "Many NICs answer reordering with a NAK, which then looks like loss."},
    {"duplicate_capture", "class", "The same packet, captured twice. It was sent once.",
     "The same IP identification, PSN, opcode and ICRC (or bytes) within 1 ms, the TTL equal or "
     "lower, and no resending around it. It is left out of every other count.",
     "Look at the mirror: it probably copies both the ingress and the egress port, or two switches "
     "on the path."},
    {"stale", "class", "A packet whose PSN is far from everything that its stream is doing.",
     "More than 2^22 PSNs away from the expected one, without a sign that the QP started anew.",
     "An old packet held back somewhere, a QP number used by two applications, or a broken "
     "sender."},
    // Why a packet was sent again.
    {"nak_sequence", "cause", "Sent again because the responder said that packets were missing.",
     "Since the last progress a NAK for a PSN sequence error was seen in the other direction, and "
     "the resending starts at its PSN.",
     "Packets were lost or reordered in front of the responder: see the place, and the drop "
     "counters of the switches between the tap and the responder."},
    {"rnr_nak", "cause", "Sent again because the responder was not ready.",
     "A receiver-not-ready NAK was seen in the other direction, and the resending starts at its "
     "PSN. When a sequence NAK for the same PSN came behind it, the cause is nak_sequence, and the "
     "place still not_ready.",
     "Not a network problem. The responder's application posts too few receive buffers or too "
     "late; with a shared receive queue, look at its size."},
    {"implied_nak", "cause", "A READ was requested again because part of its answer was missing.",
     "A READ request comes from inside the range of an earlier one, after a gap in its responses.",
     "The loss is in the direction from the responder to the requester."},
    {"selective", "cause", "Only what was missing was sent again.",
     "The missing PSNs come again, and their successors do not.",
     "Both ends do selective repeat. Look at the losses as for nak_sequence; they cost less here."},
    {"timeout", "cause", "Sent again because nothing was heard for too long.",
     "No NAK explains it, and the stream made no progress for a silence before it. The local ACK "
     "timeout is 4.096 us * 2^n (IBTA vol 1, 9.7.6.1.3); NICs with adaptive retransmission use "
     "shorter ones.",
     "The last packets of a burst were lost, or their ACK was, or the peer is gone. When the "
     "silence is shorter than the round trip the timer is too short: the resending was needless."},
    {"unknown", "cause", "Why it was sent again cannot be told.",
     "The other direction was not captured, so that NAKs would not have been seen.",
     "Capture both directions: mirror receive and transmit of the port."},
    // Where the first copy was lost.
    {"downstream", "place", "Lost behind the tap, on the way to the responder.",
     "The tap saw the PSN at which the resending starts in the run before it.",
     "Look at the queues and links from the capture point towards the destination."},
    {"upstream", "place", "Lost in front of the tap, on the way from the requester.",
     "The run before skipped the PSN at which the resending starts: its successors were seen, or "
     "the run ended before it. No sign of capture loss lies within 10 ms.",
     "Look at the queues and links from the source to the capture point."},
    {"response", "place", "The request arrived; its answer was lost or late.",
     "The responder had it: it answers the repetition without a NAK, or an ACK covered it.",
     "Look at the path back, from the responder to the requester."},
    {"spurious", "place", "Sent again needlessly: its ACK had already passed the tap.",
     "It was covered by an ACK that the tap saw before it was sent again.",
     "The requester's timer is shorter than the round trip or the ACK was delayed behind the tap: "
     "compare the silence with the ACK latency."},
    {"not_ready", "place", "Nothing was lost; the responder had no buffer.",
     "An RNR NAK asked for the PSN at which the resending starts. The responder drops what follows "
     "that packet, and often sends a sequence NAK for the same PSN right behind the RNR NAK: so "
     "the "
     "cause is rnr_nak, or nak_sequence when such a NAK was the latest.",
     "Not a network problem: see rnr_nak and rnr.storm. These sequence NAKs are no sign of loss."},
    {"ambiguous", "place", "The trace cannot tell where it was lost.",
     "The end of a run was sent again after a silence with no NAK and no ACK to decide, or the "
     "capture lost packets nearby.",
     "A second capture, at the other end of the path, decides."},
    // How the two directions of a connection were joined.
    {"cm", "evidence", "The connection's set-up was captured and names both QPs.",
     "A REQ and its REP of the communication manager were seen.", "Nothing: this is certain."},
    {"psn", "evidence", "The two directions were joined by their sequence numbers.",
     "The PSNs of the answers in one follow the PSNs of the requests in the other.",
     "The confidence says how much of the traffic supports it."},
    {"only_pair", "evidence", "The two directions were joined because there is no other choice.",
     "The two hosts talk through one QP each.",
     "Take it as a guess when other traffic of these hosts may have been filtered out."},
    // How far a capture can be trusted.
    {"high", "trust", "Nothing says that this capture missed or repeated packets.",
     "No sign of capture loss, no duplicates, both directions there.", "Nothing."},
    {"limited", "trust", "Some questions cannot be answered from this capture.",
     "For example one direction is missing, packets were cut short, or times are coarse. The "
     "reasons are listed with the grade.",
     "Read the reasons; counts that they do not touch are good."},
    {"low", "trust", "This capture lost or repeated packets itself.",
     "Acknowledged packets were never seen, or the capture's own counters say that it dropped "
     "packets. The reasons are listed with the grade.",
     "Do not take its gaps for losses in the network. Capture again with larger buffers, fewer "
     "bytes per packet (128 are enough), or at a tap."},
};

std::vector<Explanation> with_findings() {
  std::vector<Explanation> rows(std::begin(kExplanations), std::end(kExplanations));
  for (const CatalogEntry* entry : catalog())
    for (const FindingKind& kind : entry->kinds)
      rows.push_back(
          {kind.id, "finding", kind.title, kind.judged, kind.next, kind.means, kind.needs});
  return rows;
}

std::string default_of(const Threshold& row) {
  switch (row.unit) {
    case Unit::count: return fmt::format("{}", row.value);
    case Unit::share: return fmt::format("{}%", row.value * 100);
    case Unit::duration: return human::tight(human::duration(static_cast<roce::u64>(row.value)));
    case Unit::rate: return fmt::format("{}/s", row.value);
  }
  return {};
}

void write_thresholds(unsigned width, Sink& out) {
  out.text(
      "Thresholds, with their defaults: change one with --set KEY=VALUE, or several in a file "
      "with --config.\n");
  for (const Threshold& row : thresholds())
    write_wrapped(out, fmt::format("  {:<36}", fmt::format("{}={}", row.key, default_of(row))),
                  row.what, width);
}

void write_list(unsigned width, Sink& out) {
  std::string_view kind;
  for (const Explanation& row : explanations()) {
    if (row.kind == "finding") continue;
    if (row.kind != kind) out.print("{}{}\n", kind.empty() ? "" : "\n", row.kind);
    kind = row.kind;
    write_wrapped(out, fmt::format("  {:<18}", row.id), row.meaning, width);
  }
  out.text("\nfinding\n");
  for (const CatalogEntry* entry : catalog())
    for (const FindingKind& finding : entry->kinds)
      write_wrapped(out, fmt::format("  {:<31}", finding.id), finding.title, width);
}

}  // namespace

std::span<const Explanation> explanations() {
  static const std::vector<Explanation> rows = with_findings();
  return rows;
}

void explain(std::string_view id, unsigned width, Sink& out) {
  if (id.empty()) return write_list(width, out);
  if (id == "thresholds") return write_thresholds(width, out);
  const auto rows = explanations();
  const auto row = std::ranges::find(rows, id, &Explanation::id);
  if (row == rows.end()) {
    throw std::runtime_error{fmt::format(
        "'{}' is not a word of the report; rocetrace explain lists them", printable(id))};
  }
  out.print("{} ({})\n", row->id, row->kind);
  write_wrapped(out, "  ", row->meaning, width);
  if (!row->causes.empty()) {
    out.text("\nWhat it usually means\n");
    write_wrapped(out, "  ", row->causes, width);
  }
  out.text("\nHow it is judged\n");
  write_wrapped(out, "  ", row->judged, width);
  out.text("\nWhat to do next\n");
  write_wrapped(out, "  ", row->next, width);
  if (row->needs.empty()) return;
  out.text("\nWhat must have been captured\n");
  write_wrapped(out, "  ", row->needs.words() + ".", width);
}

}  // namespace rocetrace
