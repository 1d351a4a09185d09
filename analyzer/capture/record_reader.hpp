// SPDX-License-Identifier: BSD-3-Clause
// What the readers of the two formats have in common.

#pragma once

#include <memory>
#include <string_view>

#include "capture/byte_source.hpp"
#include "capture/frame.hpp"
#include "capture/info.hpp"

namespace rocetrace {

/// No packet is captured with more bytes than this (tcpdump's and Wireshark's limit).
inline constexpr roce::u32 kMaxCaptured = 262144;

/// A packet may have had this many bytes more than were captured of it.
inline constexpr roce::u32 kMaxCutOff = 1 << 24;

/// How much is searched at a time for the place where the format takes up again.
inline constexpr std::size_t kSearchBytes = std::size_t{4} << 20;

/// Walks the records of one format. Where the file is damaged it notes so, and goes on where the
/// format takes up again.
class RecordReader {
 public:
  RecordReader() = default;
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;
  virtual ~RecordReader() = default;

  /// Puts the next frames into `out`, which is emptied first: at most kBatchFrames, at least one
  /// unless the file is at its end. They are numbered from 1. False at the end.
  virtual bool next(FrameBatch& out) = 0;
};

/// Reader for a file that begins with a pcap or pcapng header; nothing if it is neither. Both
/// references must outlive the reader, which fills `info`.
std::unique_ptr<RecordReader> open_pcap(ByteSource& source, CaptureInfo& info,
                                        roce::u16 capture_index);
std::unique_ptr<RecordReader> open_pcapng(ByteSource& source, CaptureInfo& info,
                                          roce::u16 capture_index);

/// Numbers the frames of a batch, and adds them to what is known of the capture.
void account(FrameBatch& batch, CaptureInfo& info);

/// Asks for the lines that the reader will want some records further on: the next record's place
/// is known only from the one before, and waiting for memory each time is most of the cost.
/// Distances as measured: 4 KiB ahead for short records, four records ahead for long ones.
inline void prefetch_ahead(const roce::u8* record, std::size_t stride) {
  const roce::u8* const ahead = record + (stride > 512 ? 4 * stride : 4096);
  __builtin_prefetch(ahead);
  __builtin_prefetch(ahead + 64);
}

}  // namespace rocetrace
