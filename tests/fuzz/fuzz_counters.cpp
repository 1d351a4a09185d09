// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a dump of NIC counters. Names and devices that come out are harmless to print.

#include <cassert>
#include <stdexcept>

#include "findings/counter_dump.hpp"

extern "C" int LLVMFuzzerTestOneInput(const roce::u8* data, std::size_t size) {
  try {
    const auto dump = rocetrace::parse_counters({reinterpret_cast<const char*>(data), size});
    for (const auto& [device, counters] : dump)
      for (const auto& [name, value] : counters)
        for (const char c : device + name) assert(c > ' ' && c < 0x7f && c != '<');
    const auto grown = rocetrace::counted_between(dump, dump);
    for (const auto& one : grown) assert(one.backward.empty());
  } catch (const std::runtime_error&) {
    // no counters in it
  }
  return 0;
}
