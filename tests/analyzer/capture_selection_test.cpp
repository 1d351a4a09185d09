// SPDX-License-Identifier: BSD-3-Clause
// Choosing frames and files: filters, directories and patterns.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "analyzer/capture_files.hpp"
#include "capture/frame_filter.hpp"
#include "capture/inputs.hpp"

namespace rocetrace::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// An IPv4 UDP packet; what is in front of it depends on the link type.
Octets udp_to(u16 port, const Octets& front) {
  Writer w{.big_endian = true};
  w.put(front).put16(0x4500).put16(40).put32(0).put16(0x4011).put16(0);
  w.put32(0x0a000001).put32(0x0a000002).put16(50000).put16(port).put16(20).put16(0);
  w.octets.resize(w.octets.size() + 12);
  return w.octets;
}

const Octets kEthernet = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0};
const Octets kCooked = {0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0};

TEST(FrameFilter, IsCompiledForEachLinkType) {
  FrameFilter filter("udp dst port 4791 and host 10.0.0.1");
  for (const auto& [link_type, front] :
       {std::pair{u16{1}, kEthernet}, {u16{113}, kCooked}, {u16{101}, Octets{}}}) {
    const Octets roce = udp_to(4791, front);
    const Octets dns = udp_to(53, front);
    EXPECT_TRUE(filter.passes({.bytes = roce, .wire_size = 60, .link_type = link_type}));
    EXPECT_FALSE(filter.passes({.bytes = dns, .wire_size = 60, .link_type = link_type}));
  }
}

TEST(FrameFilter, KeepsTheNumbersOfThoseThatPass) {
  const Octets roce = udp_to(4791, kEthernet);
  const Octets dns = udp_to(53, kEthernet);
  FrameBatch batch;
  for (u64 i = 1; i <= 4; ++i) {
    batch.push_back(
        {.number = i, .bytes = i % 2 == 0 ? roce : dns, .wire_size = 60, .link_type = 1});
  }
  FrameFilter("udp dst port 4791").apply(batch);
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(batch[0].number, 2U);
  EXPECT_EQ(batch[1].number, 4U);
}

TEST(FrameFilter, SaysWhatIsWrongWithTheExpression) {
  try {
    FrameFilter filter("udp prot 4791");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("udp prot 4791"));
    EXPECT_THAT(error.what(), HasSubstr("syntax error"));
  }
}

TEST(FrameFilter, CutAndEmptyFramesDoNotPass) {
  FrameFilter filter("udp dst port 4791");
  const Octets roce = udp_to(4791, kEthernet);
  for (std::size_t size = 0; size < 38; ++size) {
    EXPECT_FALSE(
        filter.passes({.bytes = roce::Bytes(roce).first(size), .wire_size = 60, .link_type = 1}));
  }
}

TEST(FrameFilter, AnEmptyExpressionLetsEverythingPass) {
  EXPECT_TRUE(FrameFilter("").passes({.bytes = kEthernet, .wire_size = 14, .link_type = 1}));
}

class Inputs : public testing::Test {
 protected:
  Inputs() : place_(TemporaryFile({}).path() + ".d") {
    std::filesystem::create_directory(place_);
    for (const char* name : {"ring.pcap10", "ring.pcap2", "ring.pcap1"}) {
      add(name, PcapFile{}.begin().octets);
    }
    add("readme.txt", payload(100));
    std::filesystem::create_directory(place_ / "below");
  }
  ~Inputs() override { std::filesystem::remove_all(place_); }

  void add(const std::string& name, const Octets& octets) {
    std::ofstream(place_ / name, std::ios::binary)
        .write(std::string(octets.begin(), octets.end()).data(),
               static_cast<std::streamsize>(octets.size()));
  }
  std::string path(const char* name) { return (place_ / name).string(); }

  std::filesystem::path place_;
};

TEST_F(Inputs, ADirectoryIsItsCapturesInOrder) {
  EXPECT_THAT(expand_inputs({place_.string()}),
              ElementsAre(path("ring.pcap1"), path("ring.pcap2"), path("ring.pcap10")));
}

TEST_F(Inputs, APatternIsWhatItMatches) {
  EXPECT_THAT(expand_inputs({"-", path("*.pcap?"), path("readme.txt")}),
              ElementsAre("-", path("ring.pcap1"), path("ring.pcap2"), path("readme.txt")));
}

TEST_F(Inputs, AFileWhoseNameIsAPatternIsItself) {
  add("a[1].pcap", PcapFile{}.begin().octets);
  EXPECT_THAT(expand_inputs({path("a[1].pcap")}), ElementsAre(path("a[1].pcap")));
}

TEST_F(Inputs, NothingFoundIsAnError) {
  EXPECT_THROW(expand_inputs({path("*.cap")}), std::runtime_error);
  EXPECT_THROW(expand_inputs({path("below")}), std::runtime_error);
}

}  // namespace
}  // namespace rocetrace::test
