// SPDX-License-Identifier: BSD-3-Clause
// Capture files made in memory, in every variant of the formats, for the tests of the readers.

#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include "capture/capture.hpp"
#include "roce/wire/bytes.hpp"

namespace rocetrace::test {

using roce::u16;
using roce::u32;
using roce::u64;
using roce::u8;
using Octets = std::vector<u8>;

/// Bytes appended one integer at a time, in the order that the file is to have.
struct Writer {
  bool big_endian = false;
  Octets octets{};

  Writer& put(u64 value, int size) {
    for (int i = 0; i < size; ++i) {
      octets.push_back(static_cast<u8>(value >> 8 * (big_endian ? size - 1 - i : i)));
    }
    return *this;
  }
  Writer& put16(u64 value) { return put(value, 2); }
  Writer& put32(u64 value) { return put(value, 4); }
  Writer& put64(u64 value) { return put(value, 8); }
  Writer& put(const Octets& more) {
    octets.insert(octets.end(), more.begin(), more.end());
    return *this;
  }
  Writer& pad() {
    while (octets.size() % 4 != 0) octets.push_back(0);
    return *this;
  }
};

/// A frame of `size` bytes that differs from others by `seed`.
inline Octets payload(std::size_t size, unsigned seed = 1) {
  Octets octets(size);
  for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<u8>(i * 7 + seed * 31 + 1);
  return octets;
}

struct PcapFile {
  u32 magic = 0xa1b2c3d4;
  bool big_endian = false;
  u32 link_type = 1;
  u32 snap_length = 262144;
  u16 minor_version = 4;
  std::size_t extra_header = 0;  // bytes of a record's header after the usual 16
  Octets octets{};

  PcapFile& begin() {
    Writer w{big_endian};
    w.put32(magic).put16(2).put16(minor_version).put32(0).put32(0).put32(snap_length);
    octets = w.put32(link_type).octets;
    if (magic >> 8 == 0x1c0001) octets.resize(octets.size() + 4);  // Ixia's
    return *this;
  }
  PcapFile& record(u32 seconds, u32 fraction, const Octets& bytes, u32 original = 0) {
    Writer w{big_endian};
    w.put32(seconds).put32(fraction).put32(bytes.size());
    w.put32(original != 0 ? original : bytes.size());
    w.octets.resize(w.octets.size() + extra_header, 0x11);
    octets.insert(octets.end(), w.octets.begin(), w.octets.end());
    octets.insert(octets.end(), bytes.begin(), bytes.end());
    return *this;
  }
  PcapFile& raw(const Octets& bytes) {
    octets.insert(octets.end(), bytes.begin(), bytes.end());
    return *this;
  }
};

struct PcapngFile {
  bool big_endian = false;
  Octets octets{};

  using Options = std::vector<std::pair<u16, Octets>>;
  static Octets text(std::string_view text) { return {text.begin(), text.end()}; }
  Octets number(u64 value) const { return Writer{big_endian}.put64(value).octets; }

  PcapngFile& block(u32 type, const Octets& body, const Options& options = {}) {
    Writer w{big_endian};
    w.put(body).pad();
    for (const auto& [code, value] : options) w.put16(code).put16(value.size()).put(value).pad();
    if (!options.empty()) w.put32(0);
    Writer whole{big_endian};
    whole.put32(type).put32(w.octets.size() + 12).put(w.octets).put32(w.octets.size() + 12);
    octets.insert(octets.end(), whole.octets.begin(), whole.octets.end());
    return *this;
  }
  PcapngFile& section(const Options& options = {}) {
    Writer w{big_endian};
    w.put32(0x1a2b3c4d).put16(1).put16(0).put64(~u64{0});
    return block(0x0a0d0d0a, w.octets, options);
  }
  PcapngFile& interface(u16 link_type = 1, const Options& options = {}, u32 snap_length = 0) {
    Writer w{big_endian};
    return block(1, w.put16(link_type).put16(0).put32(snap_length).octets, options);
  }
  PcapngFile& packet(u32 interface, u64 ticks, const Octets& bytes, u32 original = 0,
                     const Options& options = {}) {
    Writer w{big_endian};
    w.put32(interface).put32(ticks >> 32).put32(ticks & 0xffffffff).put32(bytes.size());
    w.put32(original != 0 ? original : bytes.size()).put(bytes);
    return block(6, w.octets, options);
  }
};

/// One frame as it came out of a reader, kept beyond its batch.
struct Seen {
  u64 number, time;
  Octets bytes;
  u32 wire_size;
  u16 link_type;
  u32 interface;
  u16 capture;
  bool operator==(const Seen&) const = default;
};

/// Everything that a Capture or a Trace gives.
template <class Source>
std::vector<Seen> read_all(Source& source) {
  std::vector<Seen> seen;
  FrameBatch batch;
  while (source.next(batch)) {
    for (const Frame& f : batch) {
      seen.push_back({f.number,
                      f.time,
                      {f.bytes.begin(), f.bytes.end()},
                      f.wire_size,
                      f.link_type,
                      f.interface,
                      f.capture});
    }
  }
  return seen;
}

/// A file that is gone when the test is.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Octets& octets, const std::string& name = "capture") {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            (name + "-" + std::to_string(getpid()) + "-" + std::to_string(++count));
    std::ofstream(path_, std::ios::binary)
        .write(std::string(octets.begin(), octets.end()).data(),
               static_cast<std::streamsize>(octets.size()));
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace rocetrace::test
