// SPDX-License-Identifier: BSD-3-Clause
// Memory for tables that are read at random: in pieces that the system can back with large pages,
// without which the translation of their addresses costs as much as the memory itself.

#pragma once

#include <memory>
#include <new>

#include "roce/wire/bytes.hpp"

namespace roce::flow {

/// Told of every large piece of memory before it is used, so that who knows the system can ask it
/// for large pages. May be null.
using MemoryNotice = void (*)(void* begin, std::size_t size);

inline constexpr std::size_t kLargePage = std::size_t{2} << 20;

/// An allocator of pieces that begin where a large page can, as far as they are large themselves.
template <class T>
struct LargeMemory {
  using value_type = T;

  explicit LargeMemory(MemoryNotice told = nullptr) : notice(told) {}
  template <class Other>
  LargeMemory(const LargeMemory<Other>& other) : notice(other.notice) {}

  static constexpr std::align_val_t alignment(std::size_t count) {
    return std::align_val_t{count * sizeof(T) >= kLargePage ? kLargePage : alignof(T)};
  }
  T* allocate(std::size_t count) {
    void* const begin = ::operator new(count * sizeof(T), alignment(count));
    if (notice && count * sizeof(T) >= kLargePage) notice(begin, count * sizeof(T));
    return static_cast<T*>(begin);
  }
  void deallocate(T* begin, std::size_t count) { ::operator delete(begin, alignment(count)); }
  bool operator==(const LargeMemory&) const = default;

  MemoryNotice notice;
};

}  // namespace roce::flow
