// SPDX-License-Identifier: BSD-3-Clause
// A real capture as the files of a ring, and the same with a file whose clock was wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "fixture.hpp"

namespace rocetrace::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Ring : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v editcap > /dev/null") != 0) GTEST_SKIP() << "needs editcap";
    if (!std::filesystem::exists(original_)) GTEST_SKIP() << "no lab captures here";
    std::filesystem::create_directory(place_);
    run("editcap -c 300 " + original_ + " " + (place_ / "ring.pcap").string());
    for (const auto& entry : std::filesystem::directory_iterator(place_))
      files_.push_back(entry.path().string());
    std::ranges::sort(files_);
    ASSERT_GE(files_.size(), 5u);
  }
  ~Ring() override { std::filesystem::remove_all(place_); }

  static void run(const std::string& command) {
    ASSERT_EQ(std::system((command + " > /dev/null 2>&1").c_str()), 0) << command;
  }
  void shift(std::size_t file, const std::string& seconds) const {
    const std::string moved = (place_ / "moved").string();
    run("editcap -t " + seconds + " " + files_[file] + " " + moved);
    std::filesystem::rename(moved, files_[file]);
  }
  Report analyzed_all(std::vector<std::string> files) const {
    Options options;
    options.captures = std::move(files);
    Progress progress{false};
    return std::move(analyze(options, progress).report);
  }
  Report analyzed_all() const { return analyzed_all(files_); }

  // One flow with losses all the way, 5.5 s long.
  std::string original_ = ROCETRACE_SHARED_DIR "/captures/lab/b_send_loss_a2b5.a.pcap";
  std::filesystem::path place_ = CaptureFile().path() + ".d";
  std::vector<std::string> files_;
};

TEST_F(Ring, IsTheWhole) {
  const Report whole = analyzed(original_);
  std::vector<std::string> backwards(files_.rbegin(), files_.rend());
  for (const Report& ring : {analyzed_all(), analyzed_all(backwards)}) {
    for (const CaptureRow& capture : ring.captures) EXPECT_THAT(capture.notes, IsEmpty());
    EXPECT_FALSE(has(ring, "capture.time_backwards"));
    EXPECT_GT(whole.totals.retransmissions, 0u);
    EXPECT_EQ(ring.totals.retransmissions, whole.totals.retransmissions);
    EXPECT_EQ(ring.totals.missing_psns, whole.totals.missing_psns);
    EXPECT_EQ(ring.totals.naks, whole.totals.naks);
  }
}

TEST_F(Ring, AFileThatOverlapsTheNextIsTold) {
  shift(2, "0.5");
  const Report report = analyzed_all();
  for (std::size_t i = 0; i < files_.size(); i++)
    EXPECT_EQ(report.captures[i].notes.size(), i == 3 ? 1u : 0u) << i;
  EXPECT_THAT(report.captures[3].notes.at(0), HasSubstr(files_[2] + " ended"));
  EXPECT_EQ(report.captures[3].trust, Trust::low);
  ASSERT_TRUE(has(report, "capture.time_backwards"));
  EXPECT_EQ(find(report, "capture.time_backwards")->scope.capture, files_[3]);
}

// Sequence numbers jump to and fro there: losses that nobody saw must not be made of it.
TEST_F(Ring, WhatNeedsTheirOrderIsNotJudged) {
  shift(2, "-3600");
  const Report report = analyzed_all();
  ASSERT_EQ(report.captures[2].notes.size(), 1u);
  EXPECT_THAT(report.captures[2].notes[0], HasSubstr("It begins 3599.99"));
  EXPECT_EQ(report.totals.retransmissions, std::nullopt);
  EXPECT_EQ(report.totals.missing_psns, std::nullopt);
  EXPECT_TRUE(unjudged(report, "loss.retransmission"));
  EXPECT_FALSE(has(report, "loss.retransmission"));
  EXPECT_FALSE(has(report, "loss.unrecovered"));
  EXPECT_FALSE(has(report, "capture.loss"));
}

TEST_F(Ring, NoTimesAreLeft) {
  shift(2, "-3600");
  Options options;
  options.captures = files_;
  Progress progress{false};
  const Analysis analysis = analyze(options, progress);
  ASSERT_EQ(analysis.report.connections.size(), 1u);
  EXPECT_EQ(analysis.report.connections.at(0).ack_latency, std::nullopt);
  EXPECT_TRUE(analysis.report.message_times.empty());
}

TEST_F(Ring, ADayBetweenTwoFilesIsTold) {
  shift(0, "-86400");
  const Report report = analyzed_all();
  ASSERT_EQ(report.captures[1].notes.size(), 1u);
  EXPECT_THAT(report.captures[1].notes[0], HasSubstr("It begins 86400.0"));
  EXPECT_NE(report.totals.retransmissions, std::nullopt);
}

TEST_F(Ring, FilesThatAreNotGivenAreTold) {
  const Report report = analyzed_all({files_[0], files_[1], files_[3], files_[4]});
  ASSERT_EQ(report.captures[2].notes.size(), 1u);
  EXPECT_THAT(report.captures[2].notes[0], HasSubstr("The file between " + files_[1]));
}

TEST_F(Ring, TwoTapsAreNone) {
  std::string other = original_;
  other.replace(other.find(".a.pcap"), 7, ".b.pcap");
  const std::string one = (place_ / "taps_00001_20260101120000.pcap").string();
  const std::string two = (place_ / "taps_00002_20260101120000.pcap").string();
  std::filesystem::copy_file(original_, one);
  std::filesystem::copy_file(other, two);
  const Report report = analyzed_all({one, two});
  EXPECT_FALSE(has(report, "capture.time_backwards"));
  EXPECT_NE(report.totals.retransmissions, std::nullopt);
  for (const CaptureRow& capture : report.captures)
    for (const std::string& note : capture.notes) EXPECT_THAT(note, HasSubstr("from another tap"));
}

}  // namespace
}  // namespace rocetrace::test
