// SPDX-License-Identifier: BSD-3-Clause
// Any bytes as a capture file, compressed or not: read to the end, every byte of every frame looked
// at. What comes out must fit into what went in.

#include <cassert>
#include <stdexcept>

#include "capture/capture.hpp"

extern "C" int LLVMFuzzerTestOneInput(const roce::u8* data, std::size_t size) {
  try {
    rocetrace::Capture capture({data, size}, "fuzz");
    rocetrace::FrameBatch batch;
    unsigned sum = 0;
    for (int batches = 0; batches < 1000 && capture.next(batch); ++batches) {
      for (const rocetrace::Frame& frame : batch) {
        for (const roce::u8 byte : frame.bytes) sum += byte;
        assert(frame.bytes.size() <= frame.wire_size);
      }
    }
    [[maybe_unused]] volatile const unsigned used = sum;
  } catch (const std::runtime_error&) {
    // not a capture
  }
  return 0;
}
