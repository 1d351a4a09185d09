// SPDX-License-Identifier: BSD-3-Clause
// The identity of a half-flow: one direction to one QP.

#pragma once

#include "roce/flow/observation.hpp"
#include "roce/wire/hash_seed.hpp"

namespace roce::flow {

/// RoCE version, source, destination and destination QP. Addresses are ids of net::AddressTable.
struct HalfFlowKey {
  u32 source = 0;
  u32 destination = 0;
  u32 qp_and_version = 0;  // destination QP in the low 24 bits, RoCE version above

  static constexpr HalfFlowKey of(const Observation& packet) {
    return {packet.source, packet.destination, packet.dest_qp | u32{packet.version} << 24};
  }
  constexpr u32 dest_qp() const { return qp_and_version & 0xff'ffff; }
  constexpr u8 version() const { return static_cast<u8>(qp_and_version >> 24); }
  constexpr bool operator==(const HalfFlowKey&) const = default;
};

/// Mixes two words; every bit of the result depends on every bit of both, in a way that `seed`
/// says.
constexpr u64 mix(u64 a, u64 b, u64 seed = 0) {
  u64 x = (a ^ seed ^ 0x9e37'79b9'7f4a'7c15) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ x >> 32 ^ b) * 0x94d0'49bb'1331'11eb;
  return x ^ x >> 29;
}

constexpr u64 hash(const HalfFlowKey& key, u64 seed) {
  return mix(u64{key.source} << 32 | key.destination, key.qp_and_version, seed);
}
/// The hash of this process.
inline u64 hash(const HalfFlowKey& key) {
  return hash(key, kHashSeed);
}

}  // namespace roce::flow
