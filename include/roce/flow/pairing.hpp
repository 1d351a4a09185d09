// SPDX-License-Identifier: BSD-3-Clause
// Which half-flow a response answers, when no CM exchange told.
//
// A response's PSN is that of a request that went the other way shortly before, so the requests of
// half-flows without a partner are indexed by host pair and PSN. Where several QPs of two hosts use
// the same PSNs, an answer names more than one of them and proves nothing; the next one may.

#pragma once

#include <vector>

#include "roce/flow/flow_key.hpp"

namespace roce::flow {

class PairingIndex {
 public:
  PairingIndex() : sets_(kSets) {}

  /// A request of `flow`, which has no partner, went by.
  void note_request(const HalfFlowKey& key, u32 psn, u32 flow, u64 frame) {
    const u64 hash = hash_of(key.source, key.destination, key.version(), psn);
    Set& set = sets_[hash % kSets];
    Entry* victim = &set.ways[0];
    for (Entry& entry : set.ways) {
      if (entry.flow == flow && entry.tag == tag(hash)) {
        victim = &entry;
        break;
      }
      if (entry.frame < victim->frame) victim = &entry;
    }
    *victim = {flow, tag(hash), frame};
  }

  /// Calls `each(flow)` for the half-flows that sent a request with `psn` from the destination of
  /// `key` to its source.
  template <class Each>
  void candidates(const HalfFlowKey& key, u32 psn, Each each) const {
    const u64 hash = hash_of(key.destination, key.source, key.version(), psn);
    for (const Entry& entry : sets_[hash % kSets].ways)
      if (entry.flow != 0 && entry.tag == tag(hash)) each(entry.flow);
  }

 private:
  struct Entry {
    u32 flow = 0;
    u32 tag = 0;
    u64 frame = 0;
  };
  struct alignas(64) Set {
    std::array<Entry, 4> ways;
  };
  static constexpr std::size_t kSets = 1u << 13;  // 512 KiB
  static constexpr u32 tag(u64 hash) { return static_cast<u32>(hash >> 32); }
  static constexpr u64 hash_of(u32 source, u32 destination, u8 version, u32 psn) {
    // Not the seeded hash: what is forgotten, and so what is reported, must not change by chance.
    return mix(u64{source} << 32 | destination, u64{version} << 32 | psn);
  }
  std::vector<Set> sets_;
};

}  // namespace roce::flow
