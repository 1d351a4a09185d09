// SPDX-License-Identifier: BSD-3-Clause
// Traces made of scripts and frames, and what is found in them.

#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "analyze.hpp"
#include "report/progress.hpp"
#include "support/captures.hpp"
#include "support/flow_script.hpp"
#include "support/wrap.hpp"

namespace rocetrace::test {

using roce::test::Buffer;
using roce::test::Packet;
using roce::test::Script;
using namespace std::chrono_literals;

inline constexpr u64 kStart = 1'700'000'000'000'000'000;  // nanoseconds

/// A capture file that is gone with its object.
class CaptureFile {
 public:
  CaptureFile() {
    static int count = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("findings-" + std::to_string(getpid()) + "-" + std::to_string(++count) + ".pcap");
  }
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;
  ~CaptureFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// Frames with their times after kStart, in any order.
class Frames {
 public:
  Frames& add(Buffer frame, std::chrono::nanoseconds time, std::size_t snap = 65535) {
    frames_.push_back({std::move(frame), static_cast<u64>(time.count()), snap});
    return *this;
  }
  Frames& add(const Packet& packet, std::chrono::nanoseconds time) {
    return add(packet.frame(), time);
  }

  /// Writes them as a pcap file, in the order of their times; equal ones as they came.
  void write(const std::string& path, bool sorted = true) const {
    std::vector<Entry> entries = frames_;
    if (sorted) std::ranges::stable_sort(entries, {}, &Entry::time);
    std::ofstream out(path, std::ios::binary);
    const auto put32 = [&](std::initializer_list<u64> values) {
      for (u64 value : values)
        for (int shift = 0; shift < 32; shift += 8) out.put(static_cast<char>(value >> shift));
    };
    put32({0xa1b23c4d, 2 | 4 << 16, 0, 0, 65535, 1});
    for (const Entry& entry : entries) {
      const u64 time = kStart + entry.time;
      const std::size_t kept = std::min(entry.frame.size(), entry.snap);
      put32({time / 1'000'000'000, time % 1'000'000'000, kept, entry.frame.size()});
      for (std::size_t i = 0; i < kept; i++) out.put(static_cast<char>(entry.frame[i]));
    }
  }

 private:
  struct Entry {
    Buffer frame;
    u64 time = 0;
    std::size_t snap = 0;
  };
  std::vector<Entry> frames_;
};

inline Report analyzed(const std::string& path, Options options = {}) {
  options.captures = {path};
  Progress progress{false};
  Analysis analysis = analyze(options, progress);
  return std::move(analysis.report);  // only what does not refer to the state is looked at
}
inline Report analyzed(const Script& script, const Options& options = {}) {
  const CaptureFile file;
  script.write(file.path());
  return analyzed(file.path(), options);
}
inline Report analyzed(const Frames& frames, const Options& options = {}) {
  const CaptureFile file;
  frames.write(file.path());
  return analyzed(file.path(), options);
}

/// The first finding of that kind, or null.
inline const FindingRow* find(const Report& report, std::string_view id) {
  const auto found = std::ranges::find(report.findings, id, &FindingRow::id);
  return found != report.findings.end() ? &*found : nullptr;
}
inline bool has(const Report& report, std::string_view id) {
  return find(report, id) != nullptr;
}
inline bool unjudged(const Report& report, std::string_view id) {
  return std::ranges::count(report.could_not_judge, id, &UnjudgedRow::id) > 0;
}
/// The severity of the first finding of that kind; empty if there is none.
inline std::string severity(const Report& report, std::string_view id) {
  const FindingRow* row = find(report, id);
  return row ? std::string(row->severity) : "";
}
inline std::string text(const Report& report, std::string_view id) {
  const FindingRow* row = find(report, id);
  return row ? row->text : "";
}
/// One piece of evidence as text; empty if it is not there.
inline std::string evidence(const Report& report, std::string_view id, std::string_view name) {
  const FindingRow* row = find(report, id);
  if (!row) return "";
  for (const auto& [key, value] : row->evidence)
    if (key == name)
      return std::visit([](const auto& held) { return fmt::format("{}", held); }, value);
  return "";
}
/// The kinds that were found with a severity of warning or error, each once, in their order.
inline std::vector<std::string> loud(const Report& report) {
  std::vector<std::string> ids;
  for (const FindingRow& row : report.findings)
    if (row.severity != "info" && std::ranges::count(ids, row.id) == 0) ids.push_back(row.id);
  return ids;
}

}  // namespace rocetrace::test
