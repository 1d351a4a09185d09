// SPDX-License-Identifier: BSD-3-Clause
// Directories and patterns. The shell expands patterns too, but not for a service's command line,
// nor within its limits on a ring of many thousand files.

#include "capture/inputs.hpp"

#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "capture/decompress.hpp"
#include "capture/endian.hpp"

namespace rocetrace {
namespace {

// pcap, in micro- and nanoseconds, modified, by Ixia in two kinds, and pcapng.
constexpr std::array<u32, 6> kMagics = {0xa1b2c3d4, 0xa1b23c4d, 0xa1b2cd34,
                                        0x1c0001ab, 0x1c0001ac, 0x0a0d0d0a};

void sort_by_name(std::vector<std::string>& names) {
  // As file managers do: trace.pcap2 comes before trace.pcap10.
  std::ranges::sort(names, [](const auto& a, const auto& b) {
    const int order = strverscmp(a.c_str(), b.c_str());
    return order != 0 ? order < 0 : a < b;
  });
}

bool begins_like_a_capture(const std::filesystem::path& path) {
  std::array<char, 4> first{};
  std::ifstream(path, std::ios::binary).read(first.data(), first.size());
  std::array<u8, 4> bytes{};
  std::memcpy(bytes.data(), first.data(), first.size());
  if (compression_of(bytes) != Compression::none) return true;
  return std::ranges::any_of(kMagics, [&](u32 magic) {
    return load32<false>(bytes.data()) == magic || load32<true>(bytes.data()) == magic;
  });
}

std::vector<std::string> captures_in(const std::string& directory) {
  std::vector<std::string> found;
  std::error_code error;
  std::filesystem::directory_iterator entry(directory, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    std::error_code unreadable;  // such a file is not a capture that we could read
    if (!entry->is_regular_file(unreadable)) continue;
    if (begins_like_a_capture(entry->path())) found.push_back(entry->path().string());
  }
  if (error) throw std::runtime_error(directory + ": " + error.message());
  if (found.empty()) throw std::runtime_error(directory + ": there is no capture file in it");
  sort_by_name(found);
  return found;
}

std::vector<std::string> matches(const std::string& pattern) {
  glob_t result{};
  std::vector<std::string> found;
  if (glob(pattern.c_str(), 0, nullptr, &result) == 0) {
    found.assign(result.gl_pathv, result.gl_pathv + result.gl_pathc);
  }
  globfree(&result);
  if (found.empty()) throw std::runtime_error(pattern + ": nothing has such a name");
  sort_by_name(found);
  return found;
}

}  // namespace

std::vector<std::string> expand_inputs(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    struct stat status {};
    const bool exists = stat(name.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) {
      std::ranges::move(captures_in(name), std::back_inserter(files));
    } else if (!exists && name.find_first_of("*?[") != std::string::npos) {
      std::ranges::move(matches(name), std::back_inserter(files));
    } else {
      files.push_back(name);
    }
  }
  return files;
}

}  // namespace rocetrace
