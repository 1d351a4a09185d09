// SPDX-License-Identifier: BSD-3-Clause
// What the writer writes reads back the same, here and in Wireshark's tools; or it is not there.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "analyzer/capture_files.hpp"
#include "capture/pcapng_writer.hpp"

namespace rocetrace::test {
namespace {

using testing::ElementsAre;

PcapngFile two_interfaces() {
  PcapngFile file;
  file.section();
  file.interface(1, {{2, PcapngFile::text("eth0")},
                     {3, PcapngFile::text("port 1")},
                     {11, PcapngFile::text(std::string_view("\0udp", 4))},
                     {13, {4}}});
  file.interface(113, {{9, {9}}}, 128);
  file.packet(1, 1700000000123456789, payload(61, 1));
  file.packet(0, 1700000000123456, payload(128, 2), 4096);
  file.packet(1, 1700000000123456790, payload(0));
  return file;
}

class Written : public testing::Test {
 protected:
  Written() : path_(TemporaryFile({}).path() + ".pcapng") {}
  ~Written() override { std::filesystem::remove(path_); }

  void copy(Capture& source) {
    PcapngWriter writer(path_);
    FrameBatch batch;
    while (source.next(batch)) {
      for (const Frame& frame : batch) {
        writer.write(frame, source.info(), frame.number == 2 ? "look here" : "");
      }
    }
    writer.finish();
  }

  std::string path_;
};

TEST_F(Written, ReadsBackTheSame) {
  const PcapngFile file = two_interfaces();
  Capture source(file.octets, "memory");
  copy(source);
  Capture original(file.octets, "memory");
  Capture written(path_);
  auto expected = read_all(original);
  for (Seen& seen : expected) seen.interface = 1 - seen.interface;  // in order of appearance
  EXPECT_TRUE(read_all(written) == expected);
  const CaptureInfo& info = written.info();
  EXPECT_EQ(info.application, "rocetrace");
  EXPECT_THAT(info.comments, ElementsAre("look here"));
  ASSERT_EQ(info.interfaces.size(), 2U);
  EXPECT_EQ(info.interfaces[0].snap_length, 128U);
  EXPECT_EQ(info.interfaces[1].name, "eth0");
  EXPECT_EQ(info.interfaces[1].description, "port 1");
  EXPECT_EQ(info.interfaces[1].filter, "udp");
  EXPECT_EQ(info.interfaces[1].fcs_bytes, 4);
  EXPECT_TRUE(info.nanosecond);
  EXPECT_EQ(info.damage_count, 0U);
}

TEST_F(Written, IsWhatWiresharkReads) {
  if (std::system("capinfos -h > /dev/null 2>&1") != 0) GTEST_SKIP() << "no capinfos here";
  const PcapngFile file = two_interfaces();
  Capture source(file.octets, "memory");
  copy(source);
  EXPECT_EQ(std::system(("capinfos -c " + path_ + " > /dev/null").c_str()), 0);
}

TEST_F(Written, WithoutFinishThereIsNothing) {
  const auto place = std::filesystem::path(path_).parent_path();
  const auto here = [&] {
    return std::count_if(std::filesystem::directory_iterator(place), {}, [&](const auto& entry) {
      return entry.path().string().starts_with(path_);
    });
  };
  {
    const PcapngWriter writer(path_);
    EXPECT_EQ(here(), 1);  // under another name
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  EXPECT_EQ(here(), 0);
}

TEST_F(Written, AFullDiskIsAnError) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  PcapngWriter writer("/dev/full");
  EXPECT_THROW(writer.finish(), std::runtime_error);
  EXPECT_THROW(PcapngWriter("/nowhere/at/all.pcapng"), std::runtime_error);
}

TEST_F(Written, OthersMayReadIt) {
  const mode_t mask = umask(022);
  PcapngWriter writer(path_);
  writer.finish();
  umask(mask);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U);
}

}  // namespace
}  // namespace rocetrace::test
