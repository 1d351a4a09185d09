// SPDX-License-Identifier: BSD-3-Clause
// Where a capture's bytes come from: a moving window over a file, a pipe or a buffer.
//
// The readers of the formats walk the window in place and know nothing else of the input.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/info.hpp"
#include "roce/wire/bytes.hpp"

namespace rocetrace {

/// Some bytes of an input, in a row.
struct Window {
  roce::Bytes bytes;
  bool last = false;  // the input ends where `bytes` end
};

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// The bytes from `offset` on: at least `need` of them, fewer only if the input ends before.
  /// Windows returned before are void. `offset` may not go back; it may lie anywhere ahead.
  /// Throws std::runtime_error naming the file if the system cannot read it.
  virtual Window window(roce::u64 offset, std::size_t need) = 0;

  /// Bytes of the stored input taken so far, and all that it has (0 if unknown). For progress.
  virtual roce::u64 bytes_read() const = 0;
  virtual roce::u64 total_size() const = 0;

  /// Where and why the input ended before its end, if it did.
  virtual std::optional<Damage> early_end() const { return std::nullopt; }
};

/// Bytes one after the other, as from a pipe.
class ByteStream {
 public:
  ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;
  virtual ~ByteStream() = default;

  /// Fills at most `size` bytes at `into`, waiting for at least one; 0 at the end.
  virtual std::size_t read(roce::u8* into, std::size_t size) = 0;

  virtual roce::u64 bytes_read() const = 0;
  virtual roce::u64 total_size() const = 0;

  /// Why the stream ended before its end, if it did.
  virtual std::optional<std::string> early_end() const { return std::nullopt; }
};

/// The file behind a descriptor, mapped piece by piece. Takes the descriptor over. Nothing if the
/// file cannot be mapped; then the descriptor stays the caller's.
std::unique_ptr<ByteSource> map_file(int descriptor);

/// The bytes behind a descriptor, read in order. Takes the descriptor over.
std::unique_ptr<ByteStream> read_file(int descriptor, std::string name);

/// A stream, read block by block.
std::unique_ptr<ByteSource> buffer_stream(std::unique_ptr<ByteStream> stream);

/// A file that is in memory already. `bytes` must outlive the source.
std::unique_ptr<ByteSource> view_memory(roce::Bytes bytes);

}  // namespace rocetrace
