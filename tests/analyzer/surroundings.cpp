// SPDX-License-Identifier: BSD-3-Clause
// What stands beside RoCE in a mirror, and its place in the reports.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyze.hpp"
#include "analyzer/capture_files.hpp"
#include "report/formats.hpp"
#include "report/progress.hpp"
#include "report/sink.hpp"
#include "support/wrap.hpp"

namespace rocetrace::test {
namespace {

using nlohmann::json;
using roce::test::Buffer;
using roce::test::ethernet;
using roce::test::Packet;
using roce::test::put;
using roce::test::wrap;
using testing::HasSubstr;

const Packet kPacket = {
    .dest_qp = 0x11, .payload_size = 64, .ack_requested = true, .source_mac = 0x02'00'00'00'00'0a};

Buffer unreachable() {
  return ethernet(0x0800, roce::test::ipv4(1, wrap({3, 3, 0, 0, 0, 0, 0, 0}, kPacket.network())));
}
// From the MAC that kPacket's source has.
Buffer pfc(unsigned time) {
  Buffer out = wrap({1, 1, 0, 8, 0, 0, 0, 0, 0, 0, time >> 8, time & 255}, Buffer(10));
  return ethernet(0x8808, out);
}
Buffer lldp(unsigned enabled) {
  return ethernet(0x88cc,
                  wrap({10,      5,    'l', 'e', 'a',  'f',  '1', 0xfe, 6,    0, 0x80, 0xc2, 11, 8,
                        enabled, 0xfe, 8,   0,   0x80, 0xc2, 12,  0,    0x65, 0, 26,   0,    0},
                       {}));
}
Buffer sflow(u32 rate) {
  const Buffer header = Packet{.dest_qp = 0x77, .source = "10.9.0.1", .tos = 3}.frame();
  Buffer record, sample, out;
  for (const u64 word : {1u, 1090u, 4u}) put(record, word, 4);
  put(record, header.size(), 4);
  put(record, header);
  record.resize((record.size() + 3) / 4 * 4);
  for (const u32 word : {1u, 7u, rate, 0u, 0u, 1u, 2u, 1u, 1u}) put(sample, word, 4);
  put(sample, record.size(), 4);
  put(sample, record);
  for (const u32 word : {5u, 1u, 0x0a0000feu, 0u, 1u, 1u, 1u, 1u}) put(out, word, 4);
  put(out, sample.size(), 4);
  put(out, sample);
  return ethernet(0x0800, roce::test::ipv4(17, roce::test::udp(6343, out)));
}

struct Told {
  json report;
  std::string text;
};

// One frame per microsecond.
Told told(const std::vector<Buffer>& frames) {
  PcapFile file;
  file.magic = 0xa1b23c4d;
  file.begin();
  u32 microseconds = 0;
  for (const Buffer& frame : frames) file.record(1000, 1000 * microseconds++, frame);
  const TemporaryFile capture(file.octets);
  Options options;
  options.captures = {capture.path()};
  Progress progress(false);
  const Analysis analysis = analyze(options, progress);
  Told out;
  std::string text;
  Sink json_sink = Sink::memory(text), text_sink = Sink::memory(out.text);
  write_json(analysis.report, {}, json_sink);
  json_sink.commit();
  write_text(analysis.report, {}, text_sink);
  text_sink.commit();
  out.report = json::parse(text);
  return out;
}

TEST(Surroundings, IcmpErrorsAreToldByKind) {
  const Told seen = told({kPacket.frame(), unreachable(), unreachable()});
  ASSERT_EQ(seen.report["icmp_errors"].size(), 1u);
  const json& row = seen.report["icmp_errors"][0];
  EXPECT_EQ(row["error"], "port unreachable");
  EXPECT_EQ(row["source"], kPacket.source);
  EXPECT_EQ(row["destination"], kPacket.destination);
  EXPECT_EQ(row["packets"], 2);
  EXPECT_EQ(row["dest_qps"], json({0x11}));
  EXPECT_EQ(row["first_frame"], 2);
  EXPECT_EQ(row["last_frame"], 3);
  EXPECT_THAT(seen.text, HasSubstr("port unreachable, 2 times"));
}

TEST(Surroundings, PausesNameTheHostsBehindTheirSender) {
  const Told seen = told({kPacket.frame(), pfc(0xffff), pfc(0), kPacket.frame()});
  ASSERT_EQ(seen.report["pauses"].size(), 1u);
  const json& row = seen.report["pauses"][0];
  EXPECT_EQ(row["mac"], "02:00:00:00:00:0a");
  EXPECT_EQ(row["hosts"], json({kPacket.source}));
  EXPECT_EQ(row["priority"], 3);
  EXPECT_EQ(row["frames"], 2);
  EXPECT_EQ(row["stops"], 1);
  EXPECT_EQ(row["paused_ns"], 1000);
  EXPECT_NEAR(row["paused_share"], 1.0 / 3, 1e-9);
  EXPECT_THAT(seen.text, HasSubstr("pauses priority 3"));
}

TEST(Surroundings, DcbxIsWhatAPortSaidLast) {
  const Told seen = told({kPacket.frame(), lldp(0), lldp(8), lldp(8)});
  ASSERT_EQ(seen.report["dcbx"].size(), 1u);
  const json& row = seen.report["dcbx"][0];
  EXPECT_EQ(row["system"], "leaf1");
  EXPECT_EQ(row["version"], "ieee");
  EXPECT_EQ(row["lossless_priorities"], json({3}));
  EXPECT_EQ(row["dscp_priorities"], json({"26:3"}));
  EXPECT_EQ(row["frames"], 3);
  EXPECT_EQ(row["changes"], 1);
  EXPECT_TRUE(row["class_of_priority"].empty());
  EXPECT_THAT(seen.text, HasSubstr("lossless priority 3"));
}

TEST(Surroundings, SflowIsCountedAsSamples) {
  const Told seen = told({sflow(1000), sflow(3000), sflow(1000)});
  EXPECT_EQ(seen.report["totals"]["roce_packets"], 0);
  ASSERT_EQ(seen.report["samples"].size(), 1u);
  const json& row = seen.report["samples"][0];
  EXPECT_EQ(row["source"], "10.9.0.1");
  EXPECT_EQ(row["dest_qp"], 0x77);
  EXPECT_EQ(row["opcode"], "RC SEND Only");
  EXPECT_EQ(row["ecn"], "ce");
  EXPECT_EQ(row["samples"], 3);
  EXPECT_EQ(row["estimated_packets"], 5000);
  EXPECT_THAT(seen.text, HasSubstr("3 samples, about 5,000 packets"));
}

TEST(Surroundings, CutFramesSayNothingAndDoNoHarm) {
  for (const Buffer& whole : {unreachable(), pfc(1), lldp(8), sflow(1)})
    for (std::size_t size = 0; size < whole.size(); size += 3)
      told({Buffer(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))});
}

}  // namespace
}  // namespace rocetrace::test
