// SPDX-License-Identifier: GPL-2.0-or-later
// What is noted of a request: its message and its place there, the transmission before it, the NAK
// that asked for it, and that it waits for an answer.

#include <algorithm>

#include "analysis.hpp"

namespace dissector {

using namespace roce;
using flow::PacketClass;

namespace {

bool repairs(u8 opcode) {
  return flow::kTraits[opcode].is(flow::kRepairs);
}

}  // namespace

void Analysis::observe_request(const Sighted& sighted, Record& record) {
  Notes& notes = notes_[record.half_flow];
  if (record.packet_class == PacketClass::stale) return;
  if (record.packet_class == PacketClass::first) {
    notes.waiting.clear();
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

/// The message of a packet that came late is that of the packet sent before it, or of the one
/// just before it.
void Analysis::place_in_earlier_message(const Sighted& sighted, Record& record, Notes& notes) {
  const flow::Observation& seen = sighted.seen;
  const Psn psn(seen.psn);
  const Waiting* before = notes.waiting.find_sent(psn);
  if (before && before->psn == psn) {
    record.message = before->record->message;
    record.offset = before->record->offset;
    record.flags |= before->record->flags & (kHasMessage | kHasOffset);
    return;
  }
  const bool of_read = before && flow::kTraits[seen.opcode].is(flow::kReadRequest);
  if (!of_read) {
    before = notes.waiting.last_before(psn);
    if (!before || before->read || before->ends || before->psn + 1u != psn) return;
  }
  if (!(before->record->flags & kHasMessage)) return;
  record.message = before->record->message;
  record.flags |= kHasMessage;
  if (of_read && seen.has(flow::kHasDmaLength)) {
    // The rest of a READ is asked for again.
    const u32 whole = notes.messages[record.message];
    record.offset = whole - std::min(whole, seen.dma_length);
    record.flags |= kHasOffset;
  } else if (before->record->flags & kHasOffset) {
    record.offset = before->record->offset + before->payload;
    record.flags |= kHasOffset;
  }
}

void Analysis::place_in_message(const Sighted& sighted, Record& record, Notes& notes) {
  const flow::Observation& seen = sighted.seen;
  const flow::OpcodeTraits traits = flow::kTraits[seen.opcode];
  if (record.packet_class == PacketClass::retransmission ||
      record.packet_class == PacketClass::reordered) {
    place_in_earlier_message(sighted, record, notes);
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
  if (record.packet_class == PacketClass::retransmission) {
    Waiting* const before = notes.waiting.find_sent(psn);
    // What begins inside of a READ can only be the rest of it.
    if (before && (before->psn == psn || entry.read)) {
      before->sent_twice = true;
      before->record->again = record.frame;
      record.original = before->record->frame;
    }
  }
  notes.waiting.put(entry);
  record.outstanding = notes.waiting.packets();
  record.outstanding_bytes = notes.waiting.bytes();
}

}  // namespace dissector
