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
  using Time = std::chrono::nanoseconds;

  Frames& add(Buffer frame, Time time, std::size_t snap = 65535) {
    frames_.push_back({std::move(frame), static_cast<u64>(time.count()), snap});
    return *this;
  }
  /// Each packet gets an IP identification of its own, unless it brings one.
  Frames& add(Packet packet, Time time, std::size_t snap = 65535) {
    if (packet.ip_id == 0) packet.ip_id = ++ids_;
    return add(packet.frame(), time, snap);
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
  u16 ids_ = 0;
};

/// The two ends of a queue pair, and the packets that they send each other: with DSCP 26 and
/// ECT(0), as fabrics for RoCE are set up. Each queue pair has PSNs of its own, as real ones have,
/// or nobody could tell which belong together: for the usual one they are as written.
struct Ends {
  std::string a = "10.0.0.1", b = "10.0.0.2";
  u32 qp_a = 0x11, qp_b = 0x22;
  u8 tos = 26 << 2 | 2;
  u16 port = 0xc001;
  std::size_t size = 64;  // bytes of a SEND
  std::vector<u16> vlans = {};

  /// A SEND Only from a to b.
  Packet send(u32 psn) const { return from_a({.psn = psn, .payload_size = size}); }
  Packet ack(u32 psn, u8 syndrome = 0x1f) const {
    return from_b({.opcode = 0x11, .psn = psn, .syndrome = syndrome});
  }
  /// NAK, PSN sequence error.
  Packet nak(u32 psn) const { return ack(psn, 0x60); }
  /// From b, whose NIC saw marks on what a sent.
  Packet cnp() const {
    Packet packet = from_b({.opcode = roce::kCnpOpcode, .becn = true});
    packet.tos = 48 << 2;
    packet.psn = 0;
    return packet;
  }
  Packet from_a(Packet packet) const { return addressed(packet, a, b, qp_b); }
  Packet from_b(Packet packet) const { return addressed(packet, b, a, qp_a); }

 private:
  // Locally administered, and as many as there are hosts.
  static u64 mac_of(const std::string& address) {
    u64 mac = 0x02;
    for (const char digit : address) mac = mac * 31 + static_cast<u64>(digit);
    return 0x02'00'00'00'00'00 | (mac & 0xffff'ffff);
  }
  Packet addressed(Packet packet, const std::string& from, const std::string& to, u32 qp) const {
    packet.source = from;
    packet.destination = to;
    packet.source_mac = mac_of(from);
    packet.destination_mac = mac_of(to);
    packet.dest_qp = qp;
    packet.psn = (packet.psn + (qp_b - 0x22) * 0x1000) & 0xff'ffff;
    packet.tos = tos;
    packet.vlans = vlans;
    packet.source_port = port;
    return packet;
  }
};

inline Packet marked(Packet packet) {
  packet.tos |= 3;
  return packet;
}

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

/// A capture that this machine does not have.
struct NotHere : std::runtime_error {
  using std::runtime_error::runtime_error;
};
inline Report lab(const std::string& name, const Options& options = {}) {
  const std::string path = std::string(ROCETRACE_SHARED_DIR "/captures/lab/") + name;
  if (!std::filesystem::exists(path)) throw NotHere("no " + path);
  return analyzed(path, options);
}
inline Report sample(const std::string& name, const Options& options = {}) {
  return analyzed(std::string(ROCETRACE_SOURCE_DIR "/samples/") + name, options);
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
