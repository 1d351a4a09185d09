// SPDX-License-Identifier: BSD-3-Clause
// The same traffic, caught in other ways, is the same traffic: captures of the lab wrapped in every
// encapsulation, link type, file format and compression give the report and the packet listing of
// the plain ones. Skipped where there are no such captures.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "analyze.hpp"
#include "analyzer/capture_files.hpp"
#include "report/formats.hpp"
#include "report/packet_row.hpp"
#include "report/progress.hpp"
#include "report/sink.hpp"
#include "support/rewrap.hpp"
#include "trace_state.hpp"

namespace rocetrace::test {
namespace {

using nlohmann::json;
using roce::test::Buffer;
using roce::test::kWrappings;
using roce::test::Wrapping;

struct Record {
  u64 time;
  Octets bytes;
};

std::vector<Record> records_of(const std::string& name) {
  std::vector<Record> out;
  const std::string path = std::string(ROCETRACE_SHARED_DIR "/captures/lab/") + name;
  if (!std::filesystem::exists(path)) return out;
  Capture capture(path);
  for (Seen& seen : read_all(capture)) out.push_back({seen.time, std::move(seen.bytes)});
  return out;
}

/// What is said of the traffic itself: not of the file, nor of what is wrapped around the packets.
struct Story {
  json report;
  std::string packets;
};

json without(json value, const std::vector<std::string>& keys) {
  if (value.is_object())
    for (const std::string& key : keys) value.erase(key);
  for (auto& inner : value)
    if (inner.is_structured()) inner = without(inner, keys);
  return value;
}

Options options_for(const std::vector<std::string>& paths) {
  Options options;
  options.captures = paths;
  options.progress = false;
  return options;
}

Story story(const std::vector<std::string>& paths) {
  Progress progress(false);
  const Options options = options_for(paths);
  std::string text, packets;
  {
    const Analysis analysis = analyze(options, progress);
    Sink out = Sink::memory(text);
    write_json(analysis.report, {}, out);
    out.commit();
  }
  {
    Sink out = Sink::memory(packets);
    list_packets(options, *packet_format("ndjson"), out, progress);
    out.commit();
  }
  const json whole = json::parse(text);
  json told;
  for (const char* key : {"totals", "half_flows", "connections", "hosts", "message_times"})
    told[key] = whole.value(key, json());
  return {without(told, {"wire_bytes", "vlans", "pcp"}), packets};
}

Octets pcap(const std::vector<Record>& records, const Wrapping& wrapping) {
  PcapFile file;
  file.magic = 0xa1b23c4d;
  file.link_type = wrapping.link_type;
  file.begin();
  for (const Record& record : records)
    file.record(static_cast<u32>(record.time / 1'000'000'000),
                static_cast<u32>(record.time % 1'000'000'000), wrapping.wrap(record.bytes));
  return file.octets;
}

struct Format {
  const char* name;
  Octets (*write)(const std::vector<Record>& records);
};

// The same records through each writer of the formats' variants, all of them in nanoseconds.
Octets pcap_of(const std::vector<Record>& records, bool big_endian) {
  PcapFile file;
  file.magic = 0xa1b23c4d;
  file.big_endian = big_endian;
  file.begin();
  for (const Record& record : records)
    file.record(static_cast<u32>(record.time / 1'000'000'000),
                static_cast<u32>(record.time % 1'000'000'000), record.bytes);
  return file.octets;
}
const PcapngFile::Options kNanoseconds = {{9, {9}}};

Octets pcapng_of(const std::vector<Record>& records, bool big_endian, u32 interfaces) {
  PcapngFile file;
  file.big_endian = big_endian;
  file.section();
  for (u32 i = 0; i < interfaces; i++) file.interface(1, kNanoseconds);
  u32 next = 0;
  for (const Record& record : records)
    file.packet(next++ % interfaces, record.time, record.bytes, 0, {{1, PcapngFile::text("x")}});
  return file.octets;
}
Octets sections_of(const std::vector<Record>& records) {
  Octets out;
  for (std::size_t begin = 0; begin < records.size(); begin += 100) {
    const auto first = records.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto count =
        static_cast<std::ptrdiff_t>(std::min<std::size_t>(100, records.size() - begin));
    const Octets section = pcapng_of({first, first + count}, begin % 200 == 0, 1);
    out.insert(out.end(), section.begin(), section.end());
  }
  return out;
}

constexpr Format kFileFormats[] = {
    {"pcap, big-endian", [](const std::vector<Record>& all) { return pcap_of(all, true); }},
    {"pcapng", [](const std::vector<Record>& all) { return pcapng_of(all, false, 1); }},
    {"pcapng, big-endian", [](const std::vector<Record>& all) { return pcapng_of(all, true, 1); }},
    {"pcapng, three interfaces",
     [](const std::vector<Record>& all) { return pcapng_of(all, false, 3); }},
    {"pcapng, many sections", [](const std::vector<Record>& all) { return sections_of(all); }},
};

// In microseconds, with `extra` bytes more in each record's header.
Octets coarse_pcap(const std::vector<Record>& records, u32 magic, std::size_t extra) {
  PcapFile file;
  file.magic = magic;
  file.extra_header = extra;
  file.begin();
  for (const Record& record : records)
    file.record(static_cast<u32>(record.time / 1'000'000'000),
                static_cast<u32>(record.time / 1000 % 1'000'000), record.bytes);
  return file.octets;
}

constexpr Wrapping kPlain = {"plain", 1, [](const Buffer& frame) { return frame; }};

// Clean, lossy, lossy with READs, over IPv6, with CNPs, and small enough for a debug build.
const char* const kCaptures[] = {"a12_rc_send_cm.a.pcap", "b_send_loss_b2a5.a.pcap",
                                 "b_read_loss_a2b5.b.pcap", "g_v6_send_loss2.a.pcap",
                                 "h_cnp_4qp_iv5ms.a.pcap"};

class Rewrapped : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    records_ = records_of(GetParam());
    if (records_.empty()) GTEST_SKIP() << GetParam() << " is not there";
    plain_ = story_of(pcap(records_, kPlain));
    ASSERT_FALSE(plain_.report["half_flows"].empty());
  }
  static Story story_of(const Octets& file) { return story({TemporaryFile(file).path()}); }
  void expect_the_same(const Story& other) const {
    EXPECT_EQ(json::diff(plain_.report, other.report), json::array());
    EXPECT_TRUE(plain_.packets == other.packets);
  }
  std::vector<Record> records_;
  Story plain_;
};

TEST_P(Rewrapped, EncapsulationsAndLinkTypes) {
  for (const Wrapping& wrapping : kWrappings) {
    SCOPED_TRACE(wrapping.name);
    const TemporaryFile file(pcap(records_, wrapping));
    expect_the_same(story({file.path()}));
  }
}

TEST_P(Rewrapped, FileFormats) {
  for (const Format& format : kFileFormats) {
    SCOPED_TRACE(format.name);
    expect_the_same(story_of(format.write(records_)));
  }
}

TEST_P(Rewrapped, FormatsInMicroseconds) {
  for (Record& record : records_) record.time -= record.time % 1000;
  plain_ = story_of(pcap(records_, kPlain));
  expect_the_same(story_of(coarse_pcap(records_, 0xa1b2c3d4, 0)));
  expect_the_same(story_of(coarse_pcap(records_, 0xa1b2cd34, 8)));
}

TEST_P(Rewrapped, Compressions) {
  const TemporaryFile plain(pcap(records_, kPlain));
  std::size_t tried = 0;
  for (const char* program : {"gzip", "zstd", "lz4"}) {
    SCOPED_TRACE(program);
    const std::string packed = plain.path() + ".packed";
    const std::string command =
        std::string(program) + " -c -q < " + plain.path() + " > " + packed + " 2>/dev/null";
    if (std::system(command.c_str()) == 0) {
      expect_the_same(story({packed}));
      tried++;
    }
    std::filesystem::remove(packed);
  }
  if (tried == 0) GTEST_SKIP() << "neither gzip, zstd nor lz4 is installed";
}

TEST_P(Rewrapped, ARingOfFilesInAnyOrder) {
  std::vector<std::unique_ptr<TemporaryFile>> ring;
  std::vector<std::string> paths;
  for (std::size_t begin = 0; begin < records_.size(); begin += 100) {
    const std::size_t end = std::min(begin + 100, records_.size());
    ring.push_back(
        std::make_unique<TemporaryFile>(pcap({records_.begin() + static_cast<std::ptrdiff_t>(begin),
                                              records_.begin() + static_cast<std::ptrdiff_t>(end)},
                                             kPlain)));
    paths.push_back(ring.back()->path());
  }
  expect_the_same(story(paths));
  std::ranges::reverse(paths);
  expect_the_same(story(paths));
}

INSTANTIATE_TEST_SUITE_P(Lab, Rewrapped, testing::ValuesIn(kCaptures), [](const auto& capture) {
  std::string name = capture.param;
  std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
  return name;
});

}  // namespace
}  // namespace rocetrace::test
