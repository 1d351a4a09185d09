// SPDX-License-Identifier: BSD-3-Clause
// Frames into a pcapng file, with the times and interfaces that they came with.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capture/frame.hpp"
#include "capture/info.hpp"

namespace rocetrace {

class PcapngWriter {
 public:
  /// Begins a file. It appears under its name, whole, with finish(), and not at all without. What
  /// is not a regular file (a pipe, a device) is written in place. All functions throw
  /// std::runtime_error, naming the file, if the system cannot write.
  explicit PcapngWriter(std::string path);
  PcapngWriter(const PcapngWriter&) = delete;
  PcapngWriter& operator=(const PcapngWriter&) = delete;
  ~PcapngWriter();

  /// Adds a frame of the capture that `info` describes, with a comment if it is not empty. Times
  /// are written in nanoseconds, whatever the resolution of the source.
  void write(const Frame& frame, const CaptureInfo& info, std::string_view comment = {});

  /// Writes what is left, and gives the file its name. Nothing may be written after it.
  void finish();

  roce::u64 frames() const { return frames_; }

 private:
  using Source = std::pair<roce::u16, roce::u32>;  // capture and interface

  roce::u32 interface_of(const Frame& frame, const CaptureInfo& info);
  void begin_block(roce::u32 type);
  void end_block();
  void put16(std::size_t value);
  void put32(std::size_t value);
  void put(roce::Bytes bytes);
  void option(roce::u16 code, std::string_view value);
  void flush();
  [[noreturn]] void fail();

  std::string path_;
  std::string temporary_;  // empty when written in place, and once it has its name
  int descriptor_ = -1;
  std::vector<roce::u8> buffer_;
  std::size_t block_ = 0;  // where in the buffer the block being written begins
  std::vector<Source> interfaces_;
  roce::u64 frames_ = 0;
};

}  // namespace rocetrace
