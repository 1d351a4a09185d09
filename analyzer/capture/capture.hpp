// SPDX-License-Identifier: BSD-3-Clause
// One capture file, read from front to back: pcap, pcapng, compressed or not, file or pipe.

#pragma once

#include <memory>
#include <string>

#include "capture/byte_source.hpp"
#include "capture/frame.hpp"
#include "capture/info.hpp"
#include "capture/record_reader.hpp"
#include "capture/trailer_clock.hpp"

namespace rocetrace {

class Capture {
 public:
  /// Opens `path`; "-" is standard input. `index` is what Frame::capture will say. Throws
  /// std::runtime_error, naming the file, if it cannot be opened or is not a capture.
  explicit Capture(const std::string& path, roce::u16 index = 0);

  /// The same for other sources, and for bytes in memory, which must outlive the capture. `name` is
  /// for messages.
  Capture(std::unique_ptr<ByteSource> source, const std::string& name, roce::u16 index = 0);
  Capture(roce::Bytes bytes, const std::string& name, roce::u16 index = 0);

  /// Puts the next frames into `batch`, which is emptied first: at most kBatchFrames, in the order
  /// of the file, numbered from 1. Their bytes are valid until the next call. False at the end.
  /// Damage is no error: it is noted in info(). Throws std::runtime_error if the system fails.
  bool next(FrameBatch& batch);

  /// What is known so far; complete once next() has returned false.
  const CaptureInfo& info() const { return *info_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<CaptureInfo> info_;  // at a fixed place, for the reader
  std::unique_ptr<RecordReader> reader_;
  TrailerClock trailer_clock_;
  bool ended_ = false;
};

}  // namespace rocetrace
