// SPDX-License-Identifier: BSD-3-Clause
// Reads captures for the core's tests, without the analyzer: classic pcap files in the byte order
// of this machine, and JSON files of what is to be expected.

#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "roce/wire/bytes.hpp"

namespace roce::test {

struct CapturedFrame {
  std::size_t offset = 0;  // into PcapFile::bytes
  std::size_t size = 0;
  u32 wire_size = 0;
  u64 time = 0;  // nanoseconds since the epoch
};

/// A whole capture in memory.
class PcapFile {
 public:
  explicit PcapFile(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    if (bytes_.size() < 24 || (word(0) != 0xa1b2c3d4 && word(0) != 0xa1b23c4d)) {
      throw std::runtime_error(path.string() + ": not a pcap file of this byte order");
    }
    link_type_ = static_cast<u16>(word(20));
    const u32 scale = word(0) == 0xa1b23c4d ? 1 : 1000;
    for (std::size_t at = 24; at + 16 <= bytes_.size();) {
      const std::size_t size = word(at + 8);
      if (size > bytes_.size() - at - 16) break;
      const u64 time = word(at) * u64{1'000'000'000} + word(at + 4) * u64{scale};
      frames_.push_back({at + 16, size, word(at + 12), time});
      at += 16 + size;
    }
  }

  u16 link_type() const { return link_type_; }
  const std::vector<CapturedFrame>& frames() const { return frames_; }
  Bytes bytes(const CapturedFrame& frame) const {
    return Bytes(bytes_).subspan(frame.offset, frame.size);
  }

 private:
  u32 word(std::size_t at) const {
    u32 value;
    std::memcpy(&value, &bytes_[at], 4);
    return value;
  }
  std::vector<u8> bytes_;
  std::vector<CapturedFrame> frames_;
  u16 link_type_ = 0;
};

/// Parses a JSON file; a null value if there is none.
inline nlohmann::json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  return in ? nlohmann::json::parse(in) : nlohmann::json();
}

inline std::vector<u8> from_hex(const std::string& text) {
  std::vector<u8> out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
    out.push_back(static_cast<u8>(std::stoul(text.substr(i, 2), nullptr, 16)));
  }
  return out;
}

/// Files in `folder` whose names end with `ending`, in order of their names.
inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                                   const std::string& ending) {
  std::vector<std::filesystem::path> out;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing)) {
    if (entry.path().string().ends_with(ending)) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace roce::test
