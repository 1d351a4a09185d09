// SPDX-License-Identifier: BSD-3-Clause
// A real capture, converted, compressed, split and merged by other people's tools.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "analyzer/capture_files.hpp"
#include "capture/inputs.hpp"
#include "capture/trace.hpp"

namespace rocetrace::test {
namespace {

class Tools : public testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v editcap mergecap gzip zstd lz4 > /dev/null") != 0) {
      GTEST_SKIP() << "needs editcap, mergecap, gzip, zstd and lz4";
    }
    if (!std::filesystem::exists(original())) GTEST_SKIP() << "no lab captures here";
    std::filesystem::create_directory(place_);
  }
  ~Tools() override { std::filesystem::remove_all(place_); }

  static std::string original(const char* tap = "a") {
    return std::string(ROCETRACE_SHARED_DIR "/captures/lab/b_write_burstloss.") + tap + ".pcap";
  }
  std::string path(const std::string& name) const { return (place_ / name).string(); }

  static void run(const std::string& command) {
    EXPECT_EQ(std::system((command + " > /dev/null 2>&1").c_str()), 0) << command;
  }
  static std::vector<Seen> frames_of(const std::string& file) {
    Capture capture(file);
    auto frames = read_all(capture);
    EXPECT_EQ(capture.info().damage_count, 0U) << file;
    EXPECT_FALSE(capture.info().cut_short) << file;
    return frames;
  }

  std::filesystem::path place_ = TemporaryFile({}).path() + ".d";
};

TEST_F(Tools, EveryFormatAndCompressionHoldsTheSameFrames) {
  const auto expected = frames_of(original());
  auto rounded = expected;
  for (Seen& seen : rounded) seen.time -= seen.time % 1000;
  for (const std::string format :
       {"pcap", "nsecpcap", "modpcap", "rh6_1pcap", "suse6_3pcap", "nokiapcap", "pcapng"}) {
    const bool exact = format == "nsecpcap" || format == "pcapng";
    const std::string file = path(format);
    run("editcap -F " + format + " " + original() + " " + file);
    EXPECT_TRUE(frames_of(file) == (exact ? expected : rounded)) << format;
    for (const std::string tool : {"gzip", "zstd", "lz4"}) {
      EXPECT_EQ(std::system((tool + " -c -1 " + file + " > " + file + ".x 2> /dev/null").c_str()),
                0);
      EXPECT_TRUE(frames_of(file + ".x") == (exact ? expected : rounded)) << format << ' ' << tool;
    }
  }
}

TEST_F(Tools, ARingOfFilesIsTheWhole) {
  auto expected = frames_of(original());
  run("editcap -c 100 " + original() + " " + path("ring.pcapng"));
  auto files = expand_inputs({place_.string()});
  EXPECT_GT(files.size(), 5U);
  std::ranges::reverse(files);  // in whatever order they are named
  Trace trace(files);
  auto seen = read_all(trace);
  for (Seen& frame : seen) frame.capture = 0;
  EXPECT_TRUE(seen == expected);
}

TEST_F(Tools, TwoTapsMergeAsMergecapMergesThem) {
  run("mergecap -w " + path("merged") + " " + original("a") + " " + original("b"));
  auto merged = frames_of(path("merged"));
  Trace trace({original("a"), original("b")});
  auto seen = read_all(trace);
  for (auto* frames : {&merged, &seen}) {
    for (Seen& frame : *frames) frame.capture = 0, frame.interface = 0;
  }
  EXPECT_TRUE(seen == merged);
}

}  // namespace
}  // namespace rocetrace::test
