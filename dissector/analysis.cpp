// SPDX-License-Identifier: GPL-2.0-or-later
// The tracker judges; here its verdicts are kept by frame, and packets are linked to each other:
// requests to their answers, messages to their packets, NAKs to what they led to.

#include "analysis.hpp"

#include <algorithm>

#include "roce/cm_message.hpp"

namespace dissector {

using namespace roce;
using flow::PacketClass, flow::StreamKind;

namespace {

// An unanswered packet beyond this many is given up: the answers are not in the capture.
constexpr std::size_t kMostWaiting = 1 << 14;

bool repairs(u8 opcode) {
  return flow::kTraits[opcode].is(flow::kRepairs);
}

}  // namespace

const Record* Analysis::observe(Sighted& sighted, IcrcStatus icrc) {
  flow::Observation& seen = sighted.seen;
  if (icrc == IcrcStatus::good) seen.flags |= flow::kIcrcGood;
  if (icrc == IcrcStatus::bad) seen.flags |= flow::kIcrcBad;
  flow::Arrival arrival;
  tracker_.observe({&seen, 1}, {&arrival, 1});
  if (seen.dest_qp == kCmQueuePair) {
    if (const auto message = decode_cm(sighted.packet)) tracker_.observe_cm(seen, *message);
  }
  settle();

  Record& record = records_.emplace_back();
  record.frame = static_cast<u32>(seen.frame);
  record.bth_offset = static_cast<u16>(sighted.located.bth_offset);
  record.half_flow = arrival.flow;
  record.episode = arrival.episode;
  record.missing = arrival.missing;
  record.packet_class = arrival.packet_class;
  record.provisional = arrival.provisional;
  record.stream = arrival.stream;
  record.repeated_response = arrival.repeated_response;
  record.icrc = icrc;

  if (arrival.flow == 0) return &record;  // one half-flow too many: not followed
  if (notes_.size() <= arrival.flow) notes_.resize(arrival.flow + 1);
  number_stream(arrival.flow);
  Notes& notes = notes_[arrival.flow];
  if (seen.ecn() == 3) {
    notes.last_ce = seen.time;
    notes.ces++;
  }
  if (arrival.packet_class == PacketClass::duplicate_capture) {
    const std::size_t at = position(notes, Psn(seen.psn));
    if (at < notes.waiting.size() && notes.waiting[at].psn == Psn(seen.psn)) {
      record.original = notes.waiting[at].record->frame;
    }
    return &record;
  }
  switch (arrival.stream) {
    case StreamKind::request: observe_request(sighted, record); break;
    case StreamKind::response: observe_response(sighted, record); break;
    case StreamKind::cnp: observe_cnp(sighted, record); break;
    case StreamKind::other: break;
  }
  return &record;
}

void Analysis::finish() {
  tracker_.finish();
  settle();
}

void Analysis::settle() {
  flow::Settlements& settled = tracker_.settlements();
  for (const flow::SettledClass& verdict : settled.classes) {
    const auto at =
        std::lower_bound(records_.begin(), records_.end(), verdict.frame,
                         [](const Record& record, u64 frame) { return record.frame < frame; });
    if (at == records_.end() || at->frame != verdict.frame) continue;
    at->packet_class = verdict.packet_class;
    at->episode = verdict.episode;
    at->provisional = false;
  }
  settled.classes.clear();
  for (const flow::SettledEpisode& verdict : settled.episodes) {
    if (episodes_.size() <= verdict.number) episodes_.resize(verdict.number + 1);
    episodes_[verdict.number] = {verdict.cause, verdict.place, verdict.packets};
  }
  settled.episodes.clear();
}

const Record* Analysis::find(uint32_t frame, std::size_t bth_offset) {
  const auto fits = [&](std::size_t i) {
    return i < records_.size() && records_[i].frame == frame &&
           records_[i].bth_offset == static_cast<u16>(bth_offset);
  };
  // Packets are mostly asked for in order.
  if (fits(last_found_ + 1)) return &records_[++last_found_];
  const auto first =
      std::lower_bound(records_.begin(), records_.end(), frame,
                       [](const Record& record, uint32_t wanted) { return record.frame < wanted; });
  for (auto i = static_cast<std::size_t>(first - records_.begin());
       i < records_.size() && records_[i].frame == frame; i++) {
    if (fits(i)) {
      last_found_ = i;
      return &records_[i];
    }
  }
  return nullptr;
}

Analysis::Verdict Analysis::verdict(const Record& record) const {
  return record.episode < episodes_.size() ? episodes_[record.episode] : Verdict{};
}

const Record* Analysis::find_first(uint32_t frame) const {
  const auto at =
      std::lower_bound(records_.begin(), records_.end(), frame,
                       [](const Record& record, uint32_t wanted) { return record.frame < wanted; });
  return at != records_.end() && at->frame == frame ? &*at : nullptr;
}

std::optional<uint32_t> Analysis::source_qp(const Record& record) const {
  const u32 partner = tracker_.flows().at(record.half_flow).partner;
  if (partner == 0) return std::nullopt;
  return tracker_.flows().at(partner).key.dest_qp();
}

uint32_t Analysis::message_length(const Record& record) const {
  // A response is part of a message that the other half-flow asked for.
  const flow::HalfFlow& own = tracker_.flows().at(record.half_flow);
  const u32 asker = record.stream == StreamKind::response ? own.partner : own.id;
  const Notes& notes = notes_[asker];
  return record.message < notes.messages.size() ? notes.messages[record.message] : 0;
}

/// A half-flow gets a number with its first packet, and both of a pair the smaller one. A response
/// finds its pair at once, so numbers hardly ever change after a packet was shown.
void Analysis::number_stream(uint32_t half_flow) {
  Notes& notes = notes_[half_flow];
  const u32 partner = tracker_.flows().at(half_flow).partner;
  const bool is_new = tracker_.flows().at(half_flow).packets() == 1;
  if (partner == 0 || partner >= notes_.size()) {
    if (is_new) notes.stream = streams_++;
    return;
  }
  if (notes.joined_with == partner) return;
  Notes& other = notes_[partner];
  const bool rejoined = notes.joined_with != 0 || other.joined_with != 0;
  notes.stream = rejoined ? streams_++
                 : is_new ? other.stream
                          : std::min(notes.stream, other.stream);
  other.stream = notes.stream;
  notes.joined_with = partner;
  other.joined_with = half_flow;
}

/// The first waiting packet whose PSN is not before `psn`.
std::size_t Analysis::position(const Notes& notes, Psn psn) {
  const auto begin = notes.waiting.begin() + static_cast<std::ptrdiff_t>(notes.head);
  const auto at = std::lower_bound(
      begin, notes.waiting.end(), psn,
      [](const Waiting& entry, Psn wanted) { return distance(entry.psn, wanted) > 0; });
  return static_cast<std::size_t>(at - notes.waiting.begin());
}

void Analysis::observe_request(const Sighted& sighted, Record& record) {
  Notes& notes = notes_[record.half_flow];
  if (record.packet_class == PacketClass::stale) return;
  if (record.packet_class == PacketClass::first) {
    notes.waiting.clear();
    notes.head = 0;
    notes.waiting_bytes = 0;
    notes.message_open = notes.nak_pending = false;
  }
  if (record.packet_class == PacketClass::none) return;  // datagrams are messages by themselves
  record.verb = flow::kTraits[sighted.seen.opcode].verb;
  place_in_message(sighted, record, notes);
  if (!repairs(sighted.seen.opcode)) return;
  if (notes.nak_pending && record.packet_class == PacketClass::retransmission &&
      notes.nak_psn == Psn(sighted.seen.psn)) {
    record.flags |= kNakReaction;
    record.delay = sighted.seen.time - std::min(sighted.seen.time, notes.nak_time);
    record.related = notes.nak_frame;
    notes.nak_pending = false;
  }
  wait_for_answer(sighted, record, notes);
}

void Analysis::place_in_message(const Sighted& sighted, Record& record, Notes& notes) {
  const flow::Observation& seen = sighted.seen;
  const flow::OpcodeTraits traits = flow::kTraits[seen.opcode];
  const bool earlier = record.packet_class == PacketClass::retransmission ||
                       record.packet_class == PacketClass::reordered;
  if (earlier) {
    // Its message is that of the packet sent before, or of the one just before it.
    const Psn psn(seen.psn);
    const std::size_t at = position(notes, psn);
    if (at < notes.waiting.size() && notes.waiting[at].psn == psn) {
      const Record& before = *notes.waiting[at].record;
      record.message = before.message;
      record.offset = before.offset;
      record.flags |= before.flags & (kHasMessage | kHasOffset);
    } else if (at > notes.head) {
      const Waiting& before = notes.waiting[at - 1];
      const bool inside =
          before.read ? traits.is(flow::kReadRequest) : !before.ends && before.psn + 1u == psn;
      if (!inside || !(before.record->flags & kHasMessage)) return;
      record.message = before.record->message;
      record.flags |= kHasMessage;
      if (before.read && seen.has(flow::kHasDmaLength)) {
        // The rest of a READ is asked for again.
        const u32 whole = notes.messages[record.message];
        record.offset = whole - std::min(whole, seen.dma_length);
        record.flags |= kHasOffset;
      } else if (before.record->flags & kHasOffset) {
        record.offset = before.record->offset + before.payload;
        record.flags |= kHasOffset;
      }
    }
    return;
  }

  if (traits.is(flow::kStarts) || !notes.message_open) {
    notes.message_time = traits.is(flow::kStarts) ? seen.time : 0;
    notes.messages.push_back(seen.has(flow::kHasDmaLength) ? seen.dma_length : 0);
    notes.offset = 0;
    notes.offset_known = traits.is(flow::kStarts);
  } else if (record.missing > 0) {
    notes.offset_known = false;
  }
  notes.message_open = !traits.is(flow::kEnds);
  record.message = static_cast<u32>(notes.messages.size() - 1);
  record.flags |= kHasMessage;
  if (!notes.offset_known) return;
  record.offset = notes.offset;
  record.flags |= kHasOffset;
  notes.offset += seen.payload_size;
  if (traits.is(flow::kEnds) && notes.messages.back() == 0) notes.messages.back() = notes.offset;
}

void Analysis::wait_for_answer(const Sighted& sighted, Record& record, Notes& notes) const {
  const flow::Observation& seen = sighted.seen;
  const Psn psn(seen.psn);
  const std::size_t at = position(notes, psn);
  const flow::OpcodeTraits traits = flow::kTraits[seen.opcode];
  Waiting entry = {.psn = psn,
                   .read = traits.is(flow::kReadRequest),
                   .ends = traits.is(flow::kEnds),
                   .sent_twice = record.packet_class == PacketClass::retransmission,
                   .payload = seen.payload_size,
                   .time = seen.time,
                   .message_time = notes.message_time,
                   .record = &record};
  if (entry.read) entry.width = flow::read_width(half_flow(record), seen);
  if (at < notes.waiting.size() && notes.waiting[at].psn == psn) {
    Record& before = *notes.waiting[at].record;
    before.again = record.frame;
    record.original = before.frame;
    entry.sent_twice = true;
    notes.waiting_bytes -= notes.waiting[at].payload;
    notes.waiting[at] = entry;
  } else {
    // The whole of a READ whose rest is asked for again.
    if (entry.read && at > notes.head && notes.waiting[at - 1].holds(psn)) {
      Waiting& whole = notes.waiting[at - 1];
      whole.sent_twice = true;
      whole.record->again = record.frame;
      record.original = whole.record->frame;
    }
    notes.waiting.insert(notes.waiting.begin() + static_cast<std::ptrdiff_t>(at), entry);
  }
  notes.waiting_bytes += seen.payload_size;
  if (notes.waiting.size() - notes.head > kMostWaiting) {
    notes.waiting_bytes -= notes.waiting[notes.head].payload;
    notes.head++;
  }
  record.outstanding = static_cast<u32>(notes.waiting.size() - notes.head);
  record.outstanding_bytes = notes.waiting_bytes;
}

/// Everything before `psn` is answered by `frame`. True: one of them had been sent twice.
bool Analysis::answer_before(Notes& notes, Psn psn, uint32_t frame) {
  const std::size_t end = position(notes, psn);
  bool sent_twice = false;
  for (; notes.head < end; notes.head++) {
    Waiting& entry = notes.waiting[notes.head];
    entry.record->answer = frame;
    sent_twice = sent_twice || entry.sent_twice;
    if (entry.sent_twice && (entry.record->flags & kHasMessage)) {
      notes.resent_message = entry.record->message;
    }
    notes.waiting_bytes -= entry.payload;
  }
  // The answered ones are dropped when they are most of the list.
  if (notes.head > 64 && 2 * notes.head > notes.waiting.size()) {
    notes.waiting.erase(notes.waiting.begin(),
                        notes.waiting.begin() + static_cast<std::ptrdiff_t>(notes.head));
    notes.head = 0;
  }
  return sent_twice;
}

/// Times a message whose last packet was answered, unless any of it was sent twice.
void Analysis::finish_message(const Waiting& last, u64 time, Record& record, const Notes& asker) {
  const bool known = (last.record->flags & kHasMessage) && last.message_time != 0;
  if (!last.ends || !known || asker.resent_message == last.record->message) return;
  record.flags |= kMessageTime;
  record.interval = time - std::min(time, last.message_time);
}

void Analysis::observe_response(const Sighted& sighted, Record& record) {
  const flow::HalfFlow& own = tracker_.flows().at(record.half_flow);
  if (own.partner == 0 || own.partner >= notes_.size()) return;
  Notes& asker = notes_[own.partner];
  const flow::Observation& seen = sighted.seen;
  const flow::OpcodeTraits traits = flow::kTraits[seen.opcode];
  const Psn psn(seen.psn);
  const auto since = [&](u64 time) { return seen.time - std::min(seen.time, time); };

  if (traits.is(flow::kReadResponse)) {
    std::size_t at = position(asker, psn + 1u);  // behind the last one that it can belong to
    if (at == asker.head) return;
    const Waiting read = asker.waiting[at - 1];
    if (!read.read || !read.holds(psn)) return;
    answer_before(asker, read.psn, record.frame);
    record.answer = read.record->frame;
    record.message = read.record->message;
    record.verb = flow::Verb::read;
    record.flags |= kHasMessage;
    if (own.requests.path_mtu != 0 || psn == read.psn) {
      record.offset = read.record->offset +
                      static_cast<u32>(distance(read.psn, psn)) * u32{own.requests.path_mtu};
      record.flags |= kHasOffset;
    }
    if (!traits.is(flow::kEnds)) return;
    if (!read.sent_twice) {
      record.flags |= kReadTime;
      record.delay = since(read.time);
    }
    answer_before(asker, psn + 1u, record.frame);
    finish_message(read, seen.time, record, asker);
    return;
  }

  const bool has_aeth = seen.has(flow::kHasAeth);
  const Syndrome syndrome(seen.syndrome());
  if (has_aeth && !syndrome.is_ack()) {
    answer_before(asker, psn, record.frame);
    // A sequence NAK is caused by the packet after the missing one, others by the one they name.
    const bool sequence = syndrome.is_nak() && syndrome.nak_code() == NakCode::sequence;
    std::size_t at = position(asker, psn);
    if (sequence && at < asker.waiting.size() && asker.waiting[at].psn == psn) at++;
    if (at < asker.waiting.size()) {
      record.related = asker.waiting[at].record->frame;
      record.delay = since(asker.waiting[at].time);
      record.flags |= kNakDelay;
    }
    if (sequence || syndrome.is_rnr_nak()) {
      asker.nak_psn = psn;
      asker.nak_time = seen.time;
      asker.nak_frame = record.frame;
      asker.nak_pending = true;
    }
    return;
  }

  const std::size_t at = position(asker, psn + 1u);
  if (at == asker.head) return;
  const Waiting last = asker.waiting[at - 1];
  const bool sent_twice = answer_before(asker, psn + 1u, record.frame);
  record.answer = last.record->frame;
  record.message = last.record->message;
  record.verb = last.record->verb;
  record.flags |= last.record->flags & kHasMessage;
  if (!sent_twice && last.psn == psn) {
    record.flags |= kAckTime;
    record.delay = since(last.time);
  }
  if (last.psn == psn) finish_message(last, seen.time, record, asker);
}

void Analysis::observe_cnp(const Sighted& sighted, Record& record) {
  Notes& notes = notes_[record.half_flow];
  const u64 now = sighted.seen.time;
  if (notes.last_cnp != 0 && now >= notes.last_cnp) {
    record.flags |= kHasCnpInterval;
    record.interval = now - notes.last_cnp;
  }
  notes.last_cnp = now;
  const u32 sender = tracker_.flows().at(record.half_flow).partner;
  if (sender == 0 || sender >= notes_.size()) return;
  Notes& marked = notes_[sender];
  if (marked.ces > 0 && now >= marked.last_ce) {
    record.flags |= kCeToCnp;
    record.delay = now - marked.last_ce;
  }
  marked.ces = 0;
}

}  // namespace dissector
