// SPDX-License-Identifier: BSD-3-Clause
// Output that fails must say so, and must leave no half of a file behind.

#include "report/sink.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "report_fixture.hpp"

namespace rocetrace {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class SinkFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "rocetrace_sink_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(std::string_view name) const { return (folder_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : fs::directory_iterator{folder_})
      all.push_back(entry.path().filename().string());
    return all;
  }
  static std::string content(const std::string& name) {
    std::ifstream file{name};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

  fs::path folder_;
};

std::string reason(auto&& action) {
  try {
    action();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing went wrong";
}

TEST_F(SinkFiles, AppearsWhenCommitted) {
  Sink out = Sink::file(path("report.txt"));
  out.text("hello");
  EXPECT_FALSE(fs::exists(path("report.txt")));
  out.commit();
  EXPECT_EQ(content(path("report.txt")), "hello");
  EXPECT_THAT(names(), UnorderedElementsAre("report.txt"));
}

TEST_F(SinkFiles, LeavesTheOldFileAloneWhenNotCommitted) {
  std::ofstream{path("report.txt")} << "old";
  { Sink::file(path("report.txt")).text("new"); }
  EXPECT_EQ(content(path("report.txt")), "old");
  EXPECT_THAT(names(), UnorderedElementsAre("report.txt"));
}

TEST_F(SinkFiles, WritesThroughALink) {
  std::ofstream{path("target.txt")} << "old";
  fs::create_symlink("target.txt", path("link.txt"));
  Sink out = Sink::file(path("link.txt"));
  out.text("new");
  out.commit();
  EXPECT_TRUE(fs::is_symlink(path("link.txt")));
  EXPECT_EQ(content(path("target.txt")), "new");
}

TEST_F(SinkFiles, FolderThatIsNotThereIsNamed) {
  EXPECT_THAT(reason([&] { Sink::file(path("no/report.txt")); }),
              AllOf(HasSubstr("no/report.txt"), HasSubstr("No such file")));
}

TEST_F(SinkFiles, CsvReportIsOneFileATable) {
  save_report(small_report(), path("all.csv"));
  std::vector<std::string> files;
  for (const ReportPart& part : kCsvParts) files.push_back(fmt::format("all{}.csv", part.suffix));
  EXPECT_THAT(names(), testing::UnorderedElementsAreArray(files));
}

TEST_F(SinkFiles, ExtensionPicksTheFormat) {
  save_report(small_report(), path("all.json"));
  EXPECT_EQ(content(path("all.json")), written(small_report(), write_json));
  EXPECT_THAT(reason([&] { save_report(small_report(), path("all.doc")); }), HasSubstr("all.doc"));
}

TEST(Sink, FullDiskIsAnError) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  Sink out = Sink::file("/dev/full");
  out.text("hello");
  EXPECT_THAT(reason([&] { out.commit(); }),
              AllOf(HasSubstr("/dev/full"), HasSubstr("No space left")));
}

TEST(Sink, ClosedPipeIsNoError) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);
  Sink out = Sink::file("/dev/fd/" + std::to_string(ends[1]));
  out.text("hello");
  EXPECT_THROW(out.commit(), PipeClosed);
  ::close(ends[1]);
}

TEST(Sink, LongAndShortTextKeepTheirOrder) {
  std::string all;
  std::string expected;
  Sink out = Sink::memory(all);
  for (std::size_t size = 1; size < 600'000; size = size * 3 + 1) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    out.text(text);
    out.number(size);
    expected += text + std::to_string(size);
  }
  out.commit();
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace rocetrace
