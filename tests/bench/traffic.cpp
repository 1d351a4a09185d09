// SPDX-License-Identifier: BSD-3-Clause
// How the connections of traffic.hpp behave.

#include "bench/traffic.hpp"

#include <array>

namespace bench {

namespace {

constexpr u32 kPsnMask = 0xffffff;
constexpr std::size_t kPoolSize = 1 << 20;
constexpr u32 kMaxMessagePackets = 64;
constexpr u32 kLineRate = 400;  // Gbit/s

// RC opcodes (IBTA vol 1, 9.2): of the first, middle, last and only packet.
struct Opcodes {
  u8 first, middle, last, only;

  u8 at(u32 position, u32 begin, u32 end) const {
    if (end - begin == 1) return only;
    if (position == begin) return first;
    return position + 1 == end ? last : middle;
  }
};
constexpr Opcodes kSend = {0x00, 0x01, 0x02, 0x04};
constexpr Opcodes kWrite = {0x06, 0x07, 0x08, 0x0a};
constexpr Opcodes kWriteImmediate = {0x06, 0x07, 0x09, 0x0b};
constexpr Opcodes kReadResponse = {0x0d, 0x0e, 0x0f, 0x10};
constexpr u8 kReadRequest = 0x0c, kAcknowledge = 0x11, kAtomicAcknowledge = 0x12, kFetchAdd = 0x14;
constexpr u8 kCnp = 0x81;
constexpr u8 kAck = 0x1f, kNakSequence = 0x60;  // AETH syndromes

constexpr u8 kDataTos = 26 << 2 | 2, kMarked = 3, kCnpTos = 48 << 2;

}  // namespace

Traffic::Traffic(const TrafficOptions& options, FrameWriter& writer, CaptureOutput& output)
    : options_(options),
      writer_(writer),
      output_(output),
      random_(options.seed * 7919 + 13),
      pool_(kPoolSize + FrameWriter::kMaxPayload + 64),
      connections_(options.qps) {
  if (options_.hosts == 0)
    options_.hosts = options.qps <= 64 ? 16 : options.qps <= 4096 ? 128 : 1024;
  Random bytes(options.seed + 99);
  for (std::size_t i = 0; i + 8 <= pool_.size(); i += 8) {
    // Half-precision numbers as in tensors: compressible exponents, random mantissas.
    const u64 word = (bytes.next() & 0x01ff01ff01ff01ff) | 0x3c003c003c003c00;
    std::memcpy(pool_.data() + i, &word, sizeof word);
  }
  for (u32 i = 0; i < options.qps; ++i) {
    Random of(Random::mix(options.seed * 31 + i));
    Connection& at = connections_[i];
    at = {};
    at.requester = of.below(options_.hosts);
    at.responder = (at.requester + 1 + of.below(options_.hosts - 1)) % options_.hosts;
    // QP numbers run on, as NICs hand them out.
    at.requester_qp = 0x100 + 2 * i + of.below(2);
    at.responder_qp = 0x100 + 2 * i + of.below(2);
    // Some streams wrap early.
    at.next.psn = i % 64 == 5 ? kPsnMask - 20 - of.below(50) : of.below(kPsnMask + 1);
    at.source_port = static_cast<u16>(0xc000 | of.below(0x4000));
    at.v6 = of.chance(options.v6);
    at.vlan = of.chance(options.vlan);
    at.read_start = kNoRead;
  }
}

void Traffic::run() {
  while (!done()) {
    Connection& at = connections_[random_.below(options_.qps)];
    if (random_.chance(options_.noise)) send_noise();
    for (u32 left = 1 + random_.below(2 * options_.burst - 1); left > 0 && !done(); --left)
      step(at);
  }
  output_.flush();
}

// Messages are computed, not stored, so that go-back-N can send them again.
Traffic::Message Traffic::message_of(const Connection& at) const {
  Random of(Random::mix(options_.seed << 32 ^ at.responder_qp) ^ at.next.message);
  const u32 kind = of.below(100);
  Message message{};
  if (kind >= 95) return {Verb::fetch_add, 1, 0};
  if (kind >= 70) {
    message.verb = Verb::read;
  } else if (kind >= 45) {
    message.verb = Verb::send;
  } else {
    message.verb = kind < 6 ? Verb::write_immediate : Verb::write;
  }
  const u32 limit = 1u << of.below(7);
  message.packets = std::min(1 + of.below(limit), kMaxMessagePackets);
  message.last_size = of.below(4) ? options_.mtu : 1 + of.below(options_.mtu);
  return message;
}

void Traffic::step(Connection& at) {
  const Message message = message_of(at);
  if (message.verb == Verb::read) {
    read_step(at, message);
  } else {
    request_step(at, message);
  }
}

// One request packet, and what the responder says to it.
void Traffic::request_step(Connection& at, const Message& message) {
  const Place here = at.next;
  const bool last = here.position + 1 == message.packets;
  const u32 size = last ? message.last_size : options_.mtu;
  const u32 total = (message.packets - 1) * options_.mtu + message.last_size;
  const u64 address = 0x7f0000000000 + (u64{here.message} << 20);
  std::array<u8, 32> headers;
  ByteWriter out(headers.data());
  u8 opcode = kFetchAdd;
  if (message.verb == Verb::fetch_add) {
    out.u64s(address);
    out.u32s(at.responder_qp);  // R_Key
    out.u64s(1);
    out.u64s(0);
  } else if (message.verb == Verb::send) {
    opcode = kSend.at(here.position, 0, message.packets);
  } else {
    const bool immediate = message.verb == Verb::write_immediate;
    opcode = (immediate ? kWriteImmediate : kWrite).at(here.position, 0, message.packets);
    if (here.position == 0) {
      out.u64s(address);
      out.u32s(at.responder_qp);
      out.u32s(total);
    }
    if (immediate && last) out.u32s(here.message);
  }
  const bool ack_requested = last || here.position % 16 == 15;

  const bool lost = lose(at);
  if (!lost || random_.below(2)) {
    send_request(at, message, opcode, Bytes(headers.data(), out.at()), payload(size), ack_requested,
                 1);
  }
  advance(at, message);

  if (at.countdown > 0) {
    --at.countdown;
    // READ requests wait for the recovery: nothing more comes to show the loss but a timeout.
    const bool read_next = at.next.position == 0 && message_of(at).verb == Verb::read;
    if (at.countdown > 0 && !read_next) return;
    if (!(lost && read_next)) send_ack(at, kNakSequence, at.restart.psn);
    go_back(at);
    return;
  }
  if (last) at.msn = (at.msn + 1) & kPsnMask;
  if (message.verb == Verb::fetch_add) {
    std::array<u8, 12> answer;
    ByteWriter aeth(answer.data());
    aeth.u8s(kAck);
    aeth.u24s(at.msn);
    aeth.u64s(here.message);
    emit(at, Direction::response,
         {.opcode = kAtomicAcknowledge, .psn = here.psn, .headers = answer});
  } else if (ack_requested) {
    send_ack(at, kAck, here.psn);
  }
}

// The READ request, or one packet of its response.
void Traffic::read_step(Connection& at, const Message& message) {
  const Place here = at.next;
  std::array<u8, 16> headers;
  ByteWriter out(headers.data());
  if (at.read_start == kNoRead) {
    const u32 skipped = here.position * options_.mtu;
    out.u64s(0x7e0000000000 + (u64{here.message} << 20) + skipped);
    out.u32s(at.responder_qp);
    out.u32s((message.packets - 1) * options_.mtu + message.last_size - skipped);
    send_request(at, message, kReadRequest, headers, {}, true, message.packets - here.position);
    truth_.read_restarts += here.position > 0;
    at.read_start = here.position;
    return;
  }
  const bool last = here.position + 1 == message.packets;
  const u8 opcode = kReadResponse.at(here.position, at.read_start, message.packets);
  if (opcode != kReadResponse.middle) {
    out.u8s(kAck);
    out.u24s(at.msn + 1);
  }
  const bool lost = lose(at);
  if (!lost || random_.below(2)) {
    FrameSpec spec{.opcode = opcode, .psn = here.psn, .headers = Bytes(headers.data(), out.at())};
    spec.payload = payload(last ? message.last_size : options_.mtu);
    mark_or_not(at, Direction::response, spec);
  }
  advance(at, message);

  if (at.countdown > 0) {
    if (--at.countdown == 0 || last) go_back(at);
    return;
  }
  if (last) {
    at.msn = (at.msn + 1) & kPsnMask;
    at.read_start = kNoRead;
  }
}

// True when the packet that is about to be sent gets lost.
bool Traffic::lose(Connection& at) {
  if (!random_.chance(options_.loss)) return false;
  if (at.countdown == 0) {
    at.restart = at.next;
    at.countdown = static_cast<u8>(2 + random_.below(8));
  }
  return true;
}

void Traffic::go_back(Connection& at) {
  // A requester needs time to see that something got lost. What comes again at once is a copy that
  // the mirror made: nothing else tells the two apart where packets have no identification.
  constexpr u64 kReaction = 60'000;  // nanoseconds
  time_ += kReaction;
  at.next = at.restart;
  at.countdown = 0;
  at.read_start = kNoRead;
}

void Traffic::advance(Connection& at, const Message& message) {
  at.next.psn = (at.next.psn + 1) & kPsnMask;
  if (++at.next.position < message.packets) return;
  at.next.position = 0;
  ++at.next.message;
}

void Traffic::send_request(Connection& at, const Message& message, u8 opcode, Bytes headers,
                           Bytes payload, bool ack_requested, u32 psns) {
  if (done()) return;
  const u32 psn = at.next.psn;
  const u32 ahead = (psn - at.tap_expects) & kPsnMask;
  if (at.tap_started && ahead > kPsnMask / 2) {
    ++truth_.retransmissions;
  } else {
    if (at.tap_started && ahead > 0) {
      ++truth_.gaps;
      truth_.missing_psns += ahead;
    }
    at.tap_expects = (psn + psns) & kPsnMask;
    at.tap_started = true;
  }
  FrameSpec spec{.opcode = opcode, .ack_requested = ack_requested, .psn = psn, .headers = headers};
  spec.solicited = message.verb == Verb::send && at.next.position + 1 == message.packets;
  spec.payload = payload;
  mark_or_not(at, Direction::request, spec);
}

// A marked packet is answered by a CNP now and then: notification points limit their rate.
void Traffic::mark_or_not(Connection& at, Direction direction, FrameSpec& spec) {
  const bool marked = random_.chance(options_.ce);
  spec.tos = kDataTos | (marked ? kMarked : 0);
  if (marked && !done()) ++truth_.ce_marked;
  emit(at, direction, spec);
  if (!marked || random_.below(4) || done()) return;
  static constexpr std::array<u8, 16> kReserved = {};
  const bool back = direction == Direction::request;
  ++truth_.cnps;
  emit(at, back ? Direction::response : Direction::request,
       {.tos = kCnpTos, .opcode = kCnp, .becn = true, .headers = kReserved});
}

void Traffic::send_ack(const Connection& at, u8 syndrome, u32 psn) {
  if (done()) return;
  std::array<u8, 4> aeth;
  ByteWriter out(aeth.data());
  out.u8s(syndrome);
  out.u24s(at.msn);
  ++(syndrome == kAck ? truth_.acks : truth_.naks);
  emit(at, Direction::response, {.opcode = kAcknowledge, .psn = psn, .headers = aeth});
}

void Traffic::send_noise() {
  std::array<u8, 60> frame = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
  ByteWriter(frame.data() + 12).u16s(truth_.packets % 2 ? 0x0806 : 0x88cc);
  if (!done()) record(frame, frame.size());
}

void Traffic::emit(const Connection& at, Direction direction, FrameSpec spec) {
  if (done()) return;
  const bool forth = direction == Direction::request;
  spec.source = forth ? at.requester : at.responder;
  spec.destination = forth ? at.responder : at.requester;
  spec.dest_qp = forth ? at.responder_qp : at.requester_qp;
  spec.source_port = at.source_port;
  spec.v6 = at.v6;
  spec.vlan = at.vlan;
  if (spec.tos == 0) spec.tos = kDataTos;
  spec.ip_id = ip_id_++;
  const BuiltFrame frame = writer_.build(spec);
  ++truth_.roce;
  record(frame.captured, frame.wire_size);
}

void Traffic::record(Bytes captured, u32 wire_size) {
  // 24 bytes: preamble, FCS and the gap between frames.
  time_ += (u64{wire_size} + 24) * 8 / kLineRate + random_.below(16);
  output_.add(time_, captured, wire_size);
  ++truth_.packets;
}

Bytes Traffic::payload(u32 size) {
  return Bytes(pool_).subspan(random_.below(kPoolSize), size);
}

}  // namespace bench
