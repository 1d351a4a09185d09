// SPDX-License-Identifier: BSD-3-Clause
// Writes generated frames as a capture file: pcap with nanoseconds, or pcapng. Little-endian hosts.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "roce/wire/bytes.hpp"

namespace bench {

using namespace roce;

/// An open capture file of link type Ethernet. Throws std::runtime_error when the disk refuses.
class CaptureOutput {
 public:
  /// `snap`: the snap length that the file states, bytes; 0 means none.
  CaptureOutput(std::string path, bool pcapng, u32 snap)
      : path_(std::move(path)), pcapng_(pcapng), buffer_(kBufferSize) {
    file_ = open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
    if (file_ < 0) fail();
    const u32 stated = snap ? snap : 262144;
    if (pcapng) {
      put(std::array<u32, 7>{0x0a0d0d0a, 28, 0x1a2b3c4d, 1, ~0u, ~0u, 28});
      // Option 9, if_tsresol, of one byte: 10^-9 s.
      put(std::array<u32, 8>{1, 32, 1, stated, 0x00010009, 9, 0, 32});
    } else {
      put(std::array<u32, 6>{0xa1b23c4d, 0x00040002, 0, 0, stated, 1});
    }
  }
  CaptureOutput(const CaptureOutput&) = delete;
  CaptureOutput& operator=(const CaptureOutput&) = delete;
  ~CaptureOutput() { close(file_); }

  /// Adds one record. `time`: nanoseconds since the epoch; `wire_size`: bytes before the cut.
  void add(u64 time, Bytes captured, u32 wire_size) {
    const auto size = static_cast<u32>(captured.size());
    if (used_ + size + 64 > buffer_.size()) flush();
    if (pcapng_) {
      const u32 padding = -size & 3;
      const u32 total = 32 + size + padding;
      put(std::array<u32, 7>{6, total, 0, static_cast<u32>(time >> 32), static_cast<u32>(time),
                             size, wire_size});
      put(captured);
      put(std::span(kZeros).first(padding));
      put(std::array<u32, 1>{total});
    } else {
      put(std::array<u32, 4>{static_cast<u32>(time / 1'000'000'000),
                             static_cast<u32>(time % 1'000'000'000), size, wire_size});
      put(captured);
    }
  }

  /// Bytes of the file so far.
  u64 size() const { return written_ + used_; }

  /// Hands what is buffered to the system. Call it before the end: the destructor cannot complain.
  void flush() {
    for (std::size_t done = 0; done < used_;) {
      const ssize_t count = write(file_, buffer_.data() + done, used_ - done);
      if (count < 0) fail();
      done += static_cast<std::size_t>(count);
    }
    written_ += used_;
    used_ = 0;
  }

 private:
  static constexpr std::size_t kBufferSize = 1 << 22;
  static constexpr std::array<u8, 4> kZeros = {};

  template <std::size_t N>
  void put(const std::array<u32, N>& words) {
    std::memcpy(buffer_.data() + used_, words.data(), sizeof(words));
    used_ += sizeof(words);
  }
  void put(Bytes bytes) {
    if (!bytes.empty()) std::memcpy(buffer_.data() + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  [[noreturn]] void fail() const { throw std::runtime_error(path_ + ": " + std::strerror(errno)); }

  std::string path_;
  bool pcapng_;
  std::vector<u8> buffer_;
  std::size_t used_ = 0;
  u64 written_ = 0;
  int file_ = -1;
};

}  // namespace bench
