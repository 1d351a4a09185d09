// SPDX-License-Identifier: GPL-2.0-or-later
// What is noted of an answer: which requests it answers and how long they took, what made the
// responder send a NAK; and of a CNP what came before it.

#include <algorithm>

#include "analysis.hpp"

namespace dissector {

using namespace roce;

namespace {

u64 time_from(u64 start, u64 end) {
  return end - std::min(start, end);
}

}  // namespace

/// True: one of them had been sent twice.
bool Analysis::answer_before(Notes& asker, Psn psn, uint32_t frame) {
  const WaitingList::Answered answered = asker.waiting.answer_before(psn, frame);
  if (answered.resent_message != kNoMessage) asker.resent_message = answered.resent_message;
  return answered.any_sent_twice;
}

/// Times a message whose last packet was answered, unless any of it was sent twice.
void Analysis::finish_message(const Waiting& last, u64 time, Record& record, const Notes& asker) {
  const bool known = (last.record->flags & kHasMessage) && last.message_time != 0;
  if (!last.ends || !known || asker.resent_message == last.record->message) return;
  record.flags |= kMessageTime;
  record.interval = time_from(last.message_time, time);
}

void Analysis::observe_response(const Sighted& sighted, Record& record) {
  const flow::HalfFlow& own = tracker_.flows().at(record.half_flow);
  if (own.partner == 0 || own.partner >= notes_.size()) return;
  Notes& asker = notes_[own.partner];
  const flow::Observation& seen = sighted.seen;
  if (flow::kTraits[seen.opcode].is(flow::kReadResponse)) {
    observe_read_response(sighted, record, own, asker);
  } else if (seen.has(flow::kHasAeth) && !Syndrome(seen.syndrome()).is_ack()) {
    observe_nak(sighted, record, asker);
  } else {
    observe_ack(sighted, record, asker);
  }
}

void Analysis::observe_read_response(const Sighted& sighted, Record& record,
                                     const flow::HalfFlow& own, Notes& asker) {
  const flow::Observation& seen = sighted.seen;
  const Psn psn(seen.psn);
  const Waiting* const latest = asker.waiting.last_before(psn + 1u);
  if (!latest || !latest->read || !latest->holds(psn)) return;
  const Waiting read = *latest;  // the list is about to change
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
  if (!flow::kTraits[seen.opcode].is(flow::kEnds)) return;
  if (!read.sent_twice) {
    record.flags |= kReadTime;
    record.delay = time_from(read.time, seen.time);
  }
  answer_before(asker, psn + 1u, record.frame);
  finish_message(read, seen.time, record, asker);
}

void Analysis::observe_nak(const Sighted& sighted, Record& record, Notes& asker) {
  const flow::Observation& seen = sighted.seen;
  const Syndrome syndrome(seen.syndrome());
  const Psn psn(seen.psn);
  answer_before(asker, psn, record.frame);
  // A sequence NAK is caused by the packet after the missing one, others by the one they name.
  const bool sequence = syndrome.is_nak() && syndrome.nak_code() == NakCode::sequence;
  if (const Waiting* const cause = asker.waiting.first_from(sequence ? psn + 1u : psn)) {
    record.related = cause->record->frame;
    record.delay = time_from(cause->time, seen.time);
    record.flags |= kNakDelay;
  }
  if (sequence || syndrome.is_rnr_nak()) {
    asker.nak_psn = psn;
    asker.nak_time = seen.time;
    asker.nak_frame = record.frame;
    asker.nak_pending = true;
  }
}

void Analysis::observe_ack(const Sighted& sighted, Record& record, Notes& asker) {
  const flow::Observation& seen = sighted.seen;
  const Psn psn(seen.psn);
  const Waiting* const latest = asker.waiting.last_before(psn + 1u);
  if (!latest) return;
  const Waiting last = *latest;  // the list is about to change
  const bool sent_twice = answer_before(asker, psn + 1u, record.frame);
  record.answer = last.record->frame;
  record.message = last.record->message;
  record.verb = last.record->verb;
  record.flags |= last.record->flags & kHasMessage;
  if (last.psn != psn) return;
  if (!sent_twice) {
    record.flags |= kAckTime;
    record.delay = time_from(last.time, seen.time);
  }
  finish_message(last, seen.time, record, asker);
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
