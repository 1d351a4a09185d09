// SPDX-License-Identifier: BSD-3-Clause
// What the flow layer needs to know of an opcode, as bits: one cache-friendly look-up per packet.

#pragma once

#include "roce/flow/messages.hpp"
#include "roce/opcode.hpp"

namespace roce::flow {

enum Trait : u16 {
  kRequest = 1 << 0,
  kResponse = 1 << 1,
  kCnp = 1 << 2,
  kSequenced = 1 << 3,  // its PSNs can be judged: RC, UC, RD, XRC
  kRepairs = 1 << 4,    // losses are sent again: RC, RD, XRC
  kStarts = 1 << 5,     // first packet of a message
  kEnds = 1 << 6,       // last packet of a message
  kReadRequest = 1 << 7,
  kReadResponse = 1 << 8,
  kAtomicResponse = 1 << 9,
  kAcknowledge = 1 << 10,
  kFullSize = 1 << 11  // First or Middle: carries exactly the path MTU
};

struct OpcodeTraits {
  u16 bits = 0;
  Verb verb = Verb::send;
  constexpr bool is(unsigned traits) const { return bits & traits; }
};

namespace detail {
constexpr std::array<OpcodeTraits, 256> build_traits() {
  std::array<OpcodeTraits, 256> table{};
  for (std::size_t opcode = 0; opcode < 256; opcode++) {
    const OpcodeInfo& info = kOpcodes[opcode];
    if (!info.known()) continue;
    const Service service = service_of(static_cast<u8>(opcode));
    unsigned bits = 0;
    if (info.role == Role::request) bits |= kRequest;
    if (info.role == Role::response) bits |= kResponse;
    if (info.role == Role::notify) bits |= kCnp;
    if (service != Service::ud && service != Service::cnp) bits |= kSequenced;
    if (service == Service::rc || service == Service::rd || service == Service::xrc)
      bits |= kRepairs;
    if (info.starts()) bits |= kStarts;
    if (info.ends()) bits |= kEnds;
    if (info.part == Part::first || info.part == Part::middle) bits |= kFullSize;
    OpcodeTraits& traits = table[opcode];
    switch (info.operation) {
      case Operation::send: traits.verb = Verb::send; break;
      case Operation::write: traits.verb = Verb::write; break;
      case Operation::read_request:
        bits |= kReadRequest;
        traits.verb = Verb::read;
        break;
      case Operation::read_response: bits |= kReadResponse; break;
      case Operation::atomic_acknowledge: bits |= kAtomicResponse; break;
      case Operation::acknowledge: bits |= kAcknowledge; break;
      case Operation::compare_swap:
      case Operation::fetch_add: traits.verb = Verb::atomic; break;
      case Operation::flush: traits.verb = Verb::flush; break;
      case Operation::atomic_write: traits.verb = Verb::atomic_write; break;
      case Operation::cnp: break;
    }
    traits.bits = static_cast<u16>(bits);
  }
  return table;
}
}  // namespace detail

inline constexpr std::array<OpcodeTraits, 256> kTraits = detail::build_traits();

static_assert(kTraits[0x0c].is(kReadRequest) && kTraits[0x0c].is(kRequest));
static_assert(kTraits[0x64].is(kRequest) && !kTraits[0x64].is(kSequenced));
static_assert(kTraits[0x20].is(kSequenced) && !kTraits[0x20].is(kRepairs));

}  // namespace roce::flow
