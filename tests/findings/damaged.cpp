// SPDX-License-Identifier: BSD-3-Clause
// Damaged captures, from the file to the report: each gives a report or a clear refusal, at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "analyzer/report_fixture.hpp"
#include "cut.hpp"
#include "fixture.hpp"

namespace rocetrace::test {
namespace {

using Octets = std::vector<char>;

Octets octets_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string sample_path(const std::string& name) {
  return std::string(ROCETRACE_SOURCE_DIR "/samples/") + name;
}

/// A sample as pcapng.
Octets pcapng_of(const std::string& name) {
  const CaptureFile file;
  Options options;
  options.captures = {sample_path(name)};
  options.outputs = {file.path() + "ng"};
  Progress progress{false};
  cut(options, progress);
  Octets octets = octets_of(options.outputs.front());
  std::filesystem::remove(options.outputs.front());
  return octets;
}

Octets (*const kOriginals[])() = {[] { return octets_of(sample_path("cm_reject.pcap")); },
                                  [] { return octets_of(sample_path("rnr_exceeded.pcap")); },
                                  [] { return pcapng_of("rnr_exceeded.pcap"); }};

// How many bytes make a capture of which there is something to report.
std::size_t header_of(const Octets& octets) {
  const bool pcapng = octets.at(0) == 0x0a;
  return pcapng ? static_cast<unsigned char>(octets.at(4)) : 24;
}

/// The report on a capture of these bytes, or what it is refused with.
std::string told_of(const CaptureFile& file, std::span<const char> octets) {
  std::ofstream(file.path(), std::ios::binary)
      .write(octets.data(), static_cast<std::streamsize>(octets.size()));
  Options options;
  options.captures = {file.path()};
  Progress progress{false};
  try {
    const Analysis analysis = analyze(options, progress);
    return written(analysis.report, write_json);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

// Every length of a capture, in parts so that they run side by side.
class Prefixes : public testing::TestWithParam<std::tuple<std::size_t, std::size_t>> {};
constexpr std::size_t kParts = 2;

TEST_P(Prefixes, GiveAReportEach) {
  const auto [original, part] = GetParam();
  const Octets octets = kOriginals[original]();
  const CaptureFile file;
  for (std::size_t size = part; size <= octets.size(); size += kParts) {
    const std::string told = told_of(file, std::span(octets).first(size));
    const bool report = told.starts_with('{');
    ASSERT_TRUE(report || size < header_of(octets)) << size << ": " << told;
    if (!report) {
      ASSERT_THAT(told, testing::HasSubstr(file.path())) << size;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Damaged, Prefixes,
                         testing::Combine(testing::Range(std::size_t{0}, std::size(kOriginals)),
                                          testing::Range(std::size_t{0}, kParts)));

class Corruptions : public testing::TestWithParam<unsigned> {};

TEST_P(Corruptions, GiveAReportOrARefusal) {
  std::mt19937 random(GetParam());
  const auto below = [&](std::size_t limit) { return std::size_t{random()} % limit; };
  Octets originals[] = {pcapng_of("rnr_exceeded.pcap"), octets_of(sample_path("cm_reject.pcap")),
                        octets_of(sample_path("loss_read.pcap")),
                        octets_of(sample_path("cnp.pcap"))};
  for (Octets& octets : originals) octets.resize(std::min<std::size_t>(octets.size(), 8192));
  const CaptureFile file;
  std::size_t reports = 0;
  for (int run = 0; run < 2500; run++) {
    Octets octets = originals[below(4)];
    for (std::size_t changes = 1 + below(8); changes > 0; changes--) {
      const auto at = octets.begin() + static_cast<std::ptrdiff_t>(below(octets.size()));
      switch (below(5)) {
        case 0: *at = static_cast<char>(random()); break;
        case 1: *at = static_cast<char>(*at ^ 1 << below(8)); break;
        case 2: octets.erase(at, at + std::min<std::ptrdiff_t>(octets.end() - at, 60)); break;
        case 3: octets.insert(at, below(60), static_cast<char>(random())); break;
        default: std::fill(at, std::min(octets.end(), at + 4), '\xff');
      }
      if (octets.size() < 32) octets = originals[0];
    }
    const std::string told = told_of(file, octets);
    const bool report = told.starts_with('{');
    if (!report) {
      ASSERT_THAT(told, testing::HasSubstr(file.path()));
    }
    reports += report;
  }
  EXPECT_GT(reports, 2000u) << "most damages leave something to tell of";
}
INSTANTIATE_TEST_SUITE_P(Damaged, Corruptions, testing::Range(0u, 4u));

}  // namespace
}  // namespace rocetrace::test
