// SPDX-License-Identifier: BSD-3-Clause
// What makes hashes differ from process to process: whoever makes a capture must not be able to put
// all of its flows or addresses into one place of a table. Nothing that is reported depends on it.

#pragma once

#include <random>

#include "roce/wire/bytes.hpp"

namespace roce {

namespace detail {

inline u64 random_seed() noexcept {
  try {
    std::random_device device;
    return u64{device()} << 32 | device();
  } catch (...) {  // no such device: then without
    return 0;
  }
}

}  // namespace detail

inline const u64 kHashSeed = detail::random_seed();

}  // namespace roce
