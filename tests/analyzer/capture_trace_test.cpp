// SPDX-License-Identifier: BSD-3-Clause
// Several captures as one trace, and captures that come through files, pipes and memory.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "analyzer/capture_files.hpp"
#include "capture/trace.hpp"

namespace rocetrace::test {
namespace {

using testing::ElementsAre;

Octets at_times(const std::vector<u32>& seconds) {
  PcapFile file;
  file.begin();
  for (const u32 second : seconds) file.record(1700000000 + second, 0, payload(60, second));
  return file.octets;
}

std::vector<std::pair<u16, u64>> order(Trace& trace) {
  std::vector<std::pair<u16, u64>> order;
  u64 number = 0;
  for (const Seen& seen : read_all(trace)) {
    EXPECT_EQ(seen.number, ++number);
    order.emplace_back(seen.capture, seen.time / 1000000000 - 1700000000);
    EXPECT_EQ(seen.bytes, payload(60, static_cast<unsigned>(order.back().second)));
  }
  return order;
}

TEST(Trace, MergesByTimeAndThenByFile) {
  const TemporaryFile a(at_times({1, 3, 5}));
  const TemporaryFile b(at_times({2, 3, 4}));
  Trace trace({a.path(), b.path()});
  EXPECT_THAT(order(trace), ElementsAre(std::pair(0, 1), std::pair(1, 2), std::pair(0, 3),
                                        std::pair(1, 3), std::pair(1, 4), std::pair(0, 5)));
  EXPECT_EQ(trace.info(0).packets, 3U);
  EXPECT_EQ(trace.info(1).packets, 3U);
}

TEST(Trace, FilesInTheWrongOrderAreConcatenatedInTheRightOne) {
  const TemporaryFile second(at_times({4, 5}));
  const TemporaryFile first(at_times({1, 2}));
  Trace trace({second.path(), first.path()});
  EXPECT_THAT(order(trace),
              ElementsAre(std::pair(1, 1), std::pair(1, 2), std::pair(0, 4), std::pair(0, 5)));
}

TEST(Trace, AFilesOwnOrderIsKeptWhenItsTimeGoesBack) {
  const TemporaryFile a(at_times({5, 1, 6}));
  const TemporaryFile b(at_times({4, 7}));
  Trace trace({a.path(), b.path()});
  EXPECT_THAT(order(trace), ElementsAre(std::pair(1, 4), std::pair(0, 5), std::pair(0, 1),
                                        std::pair(0, 6), std::pair(1, 7)));
}

TEST(Trace, EmptyCapturesDoNotMatter) {
  const TemporaryFile none(PcapFile{}.begin().octets);
  const TemporaryFile some(at_times({1}));
  Trace trace({none.path(), some.path(), none.path()});
  EXPECT_THAT(order(trace), ElementsAre(std::pair(1, 1)));
  EXPECT_EQ(trace.size(), 3U);
  EXPECT_EQ(trace.info(0).packets, 0U);
}

TEST(Trace, ALongRingOfFilesIsReadWhole) {
  std::vector<std::unique_ptr<TemporaryFile>> ring;
  std::vector<std::string> paths;
  for (u32 i = 0; i < 100; ++i) {
    std::vector<u32> times;
    for (u32 k = 0; k < 300; ++k) times.push_back((99 - i) * 1000 + k);
    ring.push_back(std::make_unique<TemporaryFile>(at_times(times)));
    paths.push_back(ring.back()->path());
  }
  Trace trace(paths);
  const auto frames = order(trace);
  ASSERT_EQ(frames.size(), 30000U);
  for (std::size_t i = 1; i < frames.size(); ++i) EXPECT_LT(frames[i - 1].second, frames[i].second);
  for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(trace.info(i).packets, 300U);
}

// One pcap and one pcapng of many batches, with records of all sizes.
std::vector<Octets> large_files() {
  PcapFile pcap;
  PcapngFile pcapng;
  pcap.begin();
  pcapng.section().interface();
  for (u32 i = 0; i < 3000; ++i) {
    const Octets bytes = payload(i % 50 == 7 ? 9000 : i % 1500, i);
    pcap.record(1700000000 + i / 100, i % 1000000, bytes);
    pcapng.packet(0, 1700000000000000 + i, bytes);
  }
  return {pcap.octets, pcapng.octets};
}

TEST(Capture, FileAndMemoryGiveTheSame) {
  for (const Octets& octets : large_files()) {
    const TemporaryFile file(octets);
    Capture mapped(file.path());
    Capture memory(octets, "memory");
    const auto seen = read_all(mapped);
    EXPECT_EQ(seen.size(), 3000U);
    EXPECT_TRUE(seen == read_all(memory));
    EXPECT_EQ(mapped.info().total_size, octets.size());
    EXPECT_EQ(mapped.info().bytes_read, octets.size());
  }
}

TEST(Capture, AFileLargerThanTheWindowIsReadWhole) {
  PcapFile pcap;
  pcap.begin();
  const Octets bytes = payload(9000);
  for (u32 i = 0; i < 8000; ++i) pcap.record(1700000000, i, bytes);
  const TemporaryFile file(pcap.octets);
  Capture capture(file.path());
  FrameBatch batch;
  u32 frames = 0;
  while (capture.next(batch)) {
    for (const Frame& frame : batch) {
      ASSERT_EQ(frame.time, 1700000000000000000 + frames++ * u64{1000});
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), frame.bytes.begin(), frame.bytes.end()));
    }
  }
  EXPECT_EQ(frames, 8000U);
  EXPECT_EQ(capture.info().damage_count, 0U);
}

// Writes to a FIFO in pieces of `piece` bytes while the capture is being read.
std::vector<Seen> through_fifo(const Octets& octets, std::size_t piece, CaptureInfo& info) {
  const TemporaryFile place({});
  const std::string fifo = place.path() + ".fifo";
  EXPECT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::thread writer([&] {
    const int out = open(fifo.c_str(), O_WRONLY);
    for (std::size_t at = 0; at < octets.size();) {
      const auto wrote = write(out, octets.data() + at, std::min(piece, octets.size() - at));
      if (wrote <= 0) break;
      at += static_cast<std::size_t>(wrote);
    }
    close(out);
  });
  Capture capture(fifo);
  auto seen = read_all(capture);
  writer.join();
  unlink(fifo.c_str());
  info = capture.info();
  return seen;
}

TEST(Capture, APipeGivesTheSame) {
  for (const Octets& octets : large_files()) {
    Capture memory(octets, "memory");
    const auto expected = read_all(memory);
    for (const std::size_t piece : {std::size_t{97}, std::size_t{65536}}) {
      CaptureInfo info;
      EXPECT_TRUE(through_fifo(octets, piece, info) == expected);
      EXPECT_EQ(info.total_size, 0U);
      EXPECT_FALSE(info.cut_short);
      EXPECT_EQ(info.damage_count, 0U);
    }
  }
}

TEST(Capture, AFileThatShrinksIsReadAsFarAsItIsThere) {
  PcapFile pcap;
  pcap.begin();
  for (u32 i = 0; i < 5000; ++i) pcap.record(1700000000, i, payload(1000, i));
  const TemporaryFile file(pcap.octets);
  Capture capture(file.path());
  FrameBatch batch;
  ASSERT_TRUE(capture.next(batch));
  std::filesystem::resize_file(file.path(), 400000);
  unsigned sum = 0;
  std::size_t frames = batch.size();
  while (capture.next(batch)) {
    frames += batch.size();
    for (const Frame& frame : batch) {
      for (const u8 byte : frame.bytes) sum += byte;
    }
  }
  EXPECT_LT(frames, 1000U);
  EXPECT_GT(sum, 0U);
  EXPECT_TRUE(capture.info().cut_short);
  EXPECT_THAT(capture.info().damages.back().what, testing::HasSubstr("shrank"));
}

}  // namespace
}  // namespace rocetrace::test
