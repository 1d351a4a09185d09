// SPDX-License-Identifier: BSD-3-Clause
// All half-flows: found by key, numbered from 1 in the order of first sight, never moved.

#pragma once

#include <memory>
#include <vector>

#include "roce/flow/half_flow.hpp"
#include "roce/flow/large_memory.hpp"

namespace roce::flow {

class FlowTable {
 public:
  explicit FlowTable(MemoryNotice notice = nullptr)
      : memory_(notice), slots_(std::size_t{1} << 12, memory_), mask_(slots_.size() - 1) {}
  FlowTable(const FlowTable&) = delete;
  FlowTable& operator=(const FlowTable&) = delete;
  ~FlowTable() {
    for (u32 id = 1; id <= count_; id++) std::destroy_at(&at(id));
    for (HalfFlow* chunk : chunks_) memory_.deallocate(chunk, kChunk);
  }

  /// A hint for prefetching: where the search for `hash` begins.
  const void* slot_address(u64 hash) const { return &slots_[hash & mask_]; }

  /// The id under `hash` that is most likely the right one; 0 if there is none.
  u32 probe(u64 hash) const {
    for (std::size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      const Slot& entry = slots_[slot];
      if (entry.id == 0) return 0;
      if (entry.tag == tag(hash)) return entry.id;
    }
  }

  u32 find(const HalfFlowKey& key, u64 hash) const {
    for (std::size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      const Slot& entry = slots_[slot];
      if (entry.id == 0) return 0;
      if (entry.tag == tag(hash) && at(entry.id).key == key) return entry.id;
    }
  }

  /// Adds a half-flow that find() did not find.
  HalfFlow& add(const HalfFlowKey& key, u64 hash) {
    if (2 * (std::size_t{count_} + 1) > slots_.size()) grow();
    if (count_ % kChunk == 0) chunks_.push_back(memory_.allocate(kChunk));
    HalfFlow& flow = *std::construct_at(&at(count_ + 1));
    const u32 id = ++count_;
    flow.key = key;
    flow.id = id;
    place(hash, id);
    return flow;
  }

  HalfFlow& at(u32 id) { return chunks_[(id - 1) / kChunk][(id - 1) % kChunk]; }
  const HalfFlow& at(u32 id) const { return chunks_[(id - 1) / kChunk][(id - 1) % kChunk]; }
  u32 size() const { return count_; }

 private:
  // Memory that no half-flow was put into yet is not touched, and so not there.
  static constexpr u32 kChunk = 1u << 14;
  static_assert(kChunk * sizeof(HalfFlow) % kLargePage == 0);
  struct Slot {
    u32 tag = 0;
    u32 id = 0;
  };
  static constexpr u32 tag(u64 hash) { return static_cast<u32>(hash >> 32); }

  void place(u64 hash, u32 id) {
    std::size_t slot = hash & mask_;
    while (slots_[slot].id != 0) slot = (slot + 1) & mask_;
    slots_[slot] = {tag(hash), id};
  }
  void grow() {
    slots_.assign(2 * slots_.size(), {});
    mask_ = slots_.size() - 1;
    for (u32 id = 1; id <= count_; id++) place(hash(at(id).key), id);
  }

  LargeMemory<HalfFlow> memory_;
  std::vector<Slot, LargeMemory<Slot>> slots_;
  std::size_t mask_;
  std::vector<HalfFlow*> chunks_;
  u32 count_ = 0;
};

}  // namespace roce::flow
