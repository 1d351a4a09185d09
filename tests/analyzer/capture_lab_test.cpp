// SPDX-License-Identifier: BSD-3-Clause
// Real captures, counted by an independent reader.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analyzer/capture_files.hpp"

namespace rocetrace::test {
namespace {

TEST(LabCaptures, HoldTheFramesThatAnotherReaderCounted) {
  const std::filesystem::path lab = std::filesystem::path(ROCETRACE_SHARED_DIR) / "captures/lab";
  if (!exists(lab)) GTEST_SKIP() << "no lab captures at " << lab;
  int checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(lab)) {
    if (!entry.path().string().ends_with(".expect.json")) continue;
    const auto expected = nlohmann::json::parse(std::ifstream(entry.path()));
    for (const auto& [name, facts] : expected.at("files").items()) {
      if (!exists(lab / name)) continue;
      Capture capture((lab / name).string());
      FrameBatch batch;
      u64 frames = 0;
      while (capture.next(batch)) frames += batch.size();
      EXPECT_EQ(frames, facts.at("frames").get<u64>()) << name;
      EXPECT_EQ(capture.info().packets, frames) << name;
      EXPECT_TRUE(capture.info().nanosecond) << name;
      EXPECT_FALSE(capture.info().cut_short) << name;
      EXPECT_EQ(capture.info().damage_count, 0U) << name;
      ++checked;
    }
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace rocetrace::test
