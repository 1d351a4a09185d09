// SPDX-License-Identifier: BSD-3-Clause
// What a capture cannot tell is said with its reason, and not judged all the same.

#include <set>

#include "findings/catalog.hpp"
#include "fixture.hpp"

namespace rocetrace::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string reason(const Report& report, std::string_view id) {
  const auto row = std::ranges::find(report.could_not_judge, id, &UnjudgedRow::id);
  return row != report.could_not_judge.end() ? row->text : "";
}

std::vector<const FindingKind*> kinds_that_need(Need need) {
  std::vector<const FindingKind*> kinds;
  for (const CatalogEntry* entry : catalog())
    for (const FindingKind& kind : entry->kinds)
      if (kind.needs.has(need)) kinds.push_back(&kind);
  return kinds;
}

// Each kind with that need is named or, where a finding of it is right all the same, made.
void expect_told(const Report& report, Need need, std::string_view words) {
  const auto kinds = kinds_that_need(need);
  EXPECT_FALSE(kinds.empty());
  for (const FindingKind* kind : kinds)
    EXPECT_NE(has(report, kind->id), unjudged(report, kind->id)) << kind->id;
  EXPECT_TRUE(std::ranges::any_of(kinds, [&](const FindingKind* kind) {
    return reason(report, kind->id).find(words) != std::string::npos;
  })) << words;
}

void expect_silent(const Report& report, Need need, std::string_view words) {
  for (const FindingKind* kind : kinds_that_need(need))
    EXPECT_THAT(reason(report, kind->id), Not(HasSubstr(std::string(words)))) << kind->id;
}

// Requests and their answers, and nothing that is out of order.
Frames both_ways() {
  Frames frames;
  for (u32 psn = 0; psn < 10; psn++)
    frames.add(Ends{}.send(psn), psn * 1ms).add(Ends{}.ack(psn), psn * 1ms + 20us);
  return frames;
}

// The requests alone, or the answers.
Report one_way(bool answers) {
  Frames frames;
  for (u32 psn = 0; psn < 20; psn++) {
    if (answers) {
      frames.add(psn == 10 ? Ends{}.nak(psn) : Ends{}.ack(psn), psn * 1ms);
    } else {
      frames.add(Ends{}.send(psn), psn * 1ms);
    }
  }
  return analyzed(frames);
}

TEST(Unmet, OneDirectionNamesAllThatNeedBoth) {
  EXPECT_GE(kinds_that_need(Need::both_directions).size(), 22u);
  const Report report = one_way(false);
  ASSERT_TRUE(has(report, "capture.one_direction"));
  expect_told(report, Need::both_directions, "Only one direction");
  expect_told(report, Need::answers, "Only one direction");
  EXPECT_THAT(reason(report, "stall"), HasSubstr("Only one direction"));
  EXPECT_THAT(reason(report, "capture.loss"), HasSubstr("Only one direction"));
}

TEST(Unmet, AnswersAloneTellOfNaks) {
  const Report report = one_way(true);
  ASSERT_TRUE(has(report, "capture.one_direction"));
  EXPECT_TRUE(has(report, "nak.sequence"));
  EXPECT_FALSE(unjudged(report, "nak.sequence"));
  EXPECT_FALSE(unjudged(report, "nak.remote_access")) << "there was none";
  EXPECT_TRUE(unjudged(report, "nak.slow_generation"));
}

TEST(Unmet, BothDirectionsAreNotMissed) {
  expect_silent(analyzed(both_ways()), Need::both_directions, "direction");
}

TEST(Unmet, NoKindIsNamedTwice) {
  for (const Report& report : {one_way(false), one_way(true), analyzed(both_ways())}) {
    std::set<std::string> ids;
    for (const UnjudgedRow& row : report.could_not_judge) {
      EXPECT_TRUE(ids.insert(row.id).second) << row.id;
      EXPECT_FALSE(has(report, row.id)) << row.id;
      EXPECT_TRUE(row.text.ends_with('.')) << row.text;
    }
  }
}

TEST(Unmet, SampleNamesAllThatNeedEveryPacket) {
  Frames frames;
  for (u32 psn = 0; psn < 60 * 16; psn += 16)
    frames.add(Ends{}.send(psn), psn * 1us).add(Ends{}.ack(psn), psn * 1us + 5us);
  const Report report = analyzed(frames);
  ASSERT_TRUE(has(report, "capture.sampled"));
  for (const FindingKind* kind : kinds_that_need(Need::every_packet))
    EXPECT_FALSE(has(report, kind->id)) << kind->id;
  expect_told(report, Need::every_packet, "a sample of the packets");
  expect_silent(analyzed(both_ways()), Need::every_packet, "sample");
}

TEST(Unmet, TypesOfPacketsThatAreNotThere) {
  const Report bare = analyzed(both_ways());
  expect_told(bare, Need::marks, "No CE mark");
  expect_told(bare, Need::vlan_tags, "VLAN tag");
  expect_told(bare, Need::pause_frames, "No pause frame");
  expect_told(bare, Need::cm_messages, "queue pair 1");
  expect_told(bare, Need::lossless_class, "--lossless-dscp");
  expect_silent(bare, Need::ethernet, "Ethernet");
  expect_silent(bare, Need::whole_packets, "ICRC");

  expect_silent(sample("loss_write_vlan.pcap"), Need::vlan_tags, "VLAN");
  expect_silent(sample("clean_rdma_cm.pcap"), Need::cm_messages, "queue pair 1");
  Options options;
  options.lossless_dscps = {26};
  expect_silent(analyzed(both_ways(), options), Need::lossless_class, "lossless");
  Frames marked_too = both_ways();
  marked_too.add(marked(Ends{}.send(10)), 20ms).add(Ends{}.ack(10), 21ms);
  expect_silent(analyzed(marked_too), Need::marks, "No CE mark");
}

TEST(Unmet, OnePauseFrameIsEnough) {
  Frames frames = both_ways();
  // Priority 3 for no time at all: nothing is paused, and pauses can be seen.
  Buffer pause;
  for (const int byte : {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0x09,
                         0x88, 0x08, 0x01, 0x01, 0x00, 0x08})
    pause.push_back(static_cast<u8>(byte));
  pause.resize(60);
  frames.add(std::move(pause), 5ms);
  const Report report = analyzed(frames);
  expect_silent(report, Need::pause_frames, "pause frame");
}

TEST(Unmet, CutPacketsHideTheirChecksums) {
  Frames frames;
  for (u32 psn = 0; psn < 10; psn++) frames.add(Ends{.size = 500}.send(psn), psn * 1ms, 96);
  expect_told(analyzed(frames), Need::whole_packets, "captured to its end");
}

TEST(Unmet, LinksWithoutMacs) {
  const auto files = roce::test::files_in(ROCETRACE_SHARED_DIR "/captures/lab/", ".bany.pcap");
  if (files.empty()) GTEST_SKIP() << "no captures on the any device";
  expect_told(analyzed(files.front().string()), Need::ethernet, "no Ethernet headers");
}

// pcapng has a block for packets without a time.
TEST(Unmet, PacketsWithoutATime) {
  const CaptureFile file;
  std::ofstream out(file.path(), std::ios::binary);
  const auto put32 = [&](std::initializer_list<u32> values) {
    for (const u32 value : values)
      for (int shift = 0; shift < 32; shift += 8) out.put(static_cast<char>(value >> shift));
  };
  put32({0x0a0d0d0a, 28, 0x1a2b3c4d, 1, 0xffffffff, 0xffffffff, 28});
  put32({1, 20, 1, 0, 20});
  for (u32 psn = 0; psn < 20; psn++) {
    const Packet packet = psn % 2 == 0 ? Ends{}.send(psn / 2) : Ends{}.ack(psn / 2);
    const Buffer frame = packet.frame();
    const auto size = static_cast<u32>(frame.size());
    const u32 padded = (size + 3) / 4 * 4;
    put32({3, padded + 16, size});
    for (u32 i = 0; i < padded; i++) out.put(i < size ? static_cast<char>(frame[i]) : '\0');
    put32({padded + 16});
  }
  out.close();
  const Report report = analyzed(file.path());
  ASSERT_EQ(report.totals.roce_packets, 20u);
  for (const FindingKind* kind : kinds_that_need(Need::times))
    EXPECT_FALSE(has(report, kind->id)) << kind->id;
  expect_told(report, Need::times, "no time stamps");
  expect_silent(analyzed(both_ways()), Need::times, "time stamps");
}

}  // namespace
}  // namespace rocetrace::test
