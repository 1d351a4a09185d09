// SPDX-License-Identifier: BSD-3-Clause
// Compressed captures: whole, of several members, cut and damaged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <lz4frame.h>
#include <zstd.h>

#include <random>

#include "analyzer/capture_files.hpp"
#include "capture/decompress.hpp"

namespace rocetrace::test {
namespace {

using testing::HasSubstr;

Octets gzip(const Octets& octets) {
  std::vector<u8> level(ISAL_DEF_LVL1_DEFAULT);
  Octets out(octets.size() + 1000);
  isal_zstream stream;
  isal_deflate_init(&stream);
  Octets in = octets;
  stream.next_in = in.data();
  stream.avail_in = static_cast<u32>(in.size());
  stream.next_out = out.data();
  stream.avail_out = static_cast<u32>(out.size());
  stream.end_of_stream = 1;
  stream.level = 1;
  stream.level_buf = level.data();
  stream.level_buf_size = static_cast<u32>(level.size());
  stream.gzip_flag = IGZIP_GZIP;
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  out.resize(stream.total_out);
  return out;
}

Octets zstd(const Octets& octets) {
  Octets out(ZSTD_compressBound(octets.size()));
  out.resize(ZSTD_compress(out.data(), out.size(), octets.data(), octets.size(), 3));
  return out;
}

Octets lz4(const Octets& octets) {
  LZ4F_preferences_t preferences{};
  preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
  Octets out(LZ4F_compressFrameBound(octets.size(), &preferences));
  out.resize(
      LZ4F_compressFrame(out.data(), out.size(), octets.data(), octets.size(), &preferences));
  return out;
}

Octets some_capture(u32 packets = 5000) {
  PcapFile file;
  file.begin();
  for (u32 i = 0; i < packets; ++i) file.record(1700000000 + i, i, payload(100 + i % 1400, i));
  return file.octets;
}

struct Method {
  const char* name;
  Octets (*compress)(const Octets&);
};
void PrintTo(const Method& method, std::ostream* out) {
  *out << method.name;
}

class Compressed : public testing::TestWithParam<Method> {};

TEST_P(Compressed, ReadsAsIfItWereNot) {
  const Octets plain = some_capture();
  const TemporaryFile file(GetParam().compress(plain), "no-telling-name");
  Capture compressed(file.path());
  Capture memory(plain, "memory");
  EXPECT_TRUE(read_all(compressed) == read_all(memory));
  EXPECT_EQ(compressed.info().format, std::string("pcap+") + GetParam().name);
  EXPECT_EQ(compressed.info().damage_count, 0U);
  EXPECT_FALSE(compressed.info().cut_short);
  EXPECT_EQ(compressed.info().total_size, std::filesystem::file_size(file.path()));
  EXPECT_EQ(compressed.info().bytes_read, compressed.info().total_size);
}

TEST_P(Compressed, SeveralMembersAreOneFile) {
  const Octets plain = some_capture();
  Octets members;
  for (std::size_t at = 0; at < plain.size(); at += 100000) {
    const auto begin = plain.begin() + static_cast<long>(at);
    const Octets piece(begin,
                       begin + static_cast<long>(std::min<std::size_t>(100000, plain.size() - at)));
    const Octets member = GetParam().compress(piece);
    members.insert(members.end(), member.begin(), member.end());
  }
  Capture compressed(members, "memory");
  EXPECT_EQ(read_all(compressed).size(), 5000U);
  EXPECT_EQ(compressed.info().damage_count, 0U);
}

TEST_P(Compressed, CutAnywhereGivesWhatCameBefore) {
  const Octets whole = GetParam().compress(some_capture());
  std::size_t before = 0;
  for (std::size_t size = whole.size() / 10; size < whole.size(); size += whole.size() / 17) {
    const Octets cut(whole.begin(), whole.begin() + static_cast<long>(size));
    Capture capture(cut, "memory");
    const std::size_t frames = read_all(capture).size();
    EXPECT_GE(frames, before);
    before = frames;
    EXPECT_TRUE(capture.info().cut_short) << size;
    ASSERT_FALSE(capture.info().damages.empty()) << size;
    EXPECT_THAT(capture.info().damages.back().what, HasSubstr("cut short")) << size;
  }
  EXPECT_GT(before, 2000U);
}

TEST_P(Compressed, DamageGivesWhatCameBefore) {
  Octets damaged = GetParam().compress(some_capture());
  std::mt19937 random(3);
  for (std::size_t i = 0; i < 1000; ++i)
    damaged[damaged.size() / 2 + i] ^= static_cast<u8>(random());
  Capture capture(damaged, "memory");
  EXPECT_GT(read_all(capture).size(), 1000U);
  EXPECT_GT(capture.info().damage_count, 0U);
}

TEST_P(Compressed, CutEarlyIsNoCapture) {
  const Octets whole = GetParam().compress(some_capture(1));
  const Octets cut(whole.begin(), whole.begin() + 6);
  EXPECT_THROW(Capture(cut, "memory"), std::runtime_error);
  EXPECT_THROW(Capture(GetParam().compress(payload(100)), "memory"), std::runtime_error);
  EXPECT_THROW(Capture(GetParam().compress({}), "memory"), std::runtime_error);
}

TEST_P(Compressed, ACaptureMayBeLeftUnread) {
  const Octets whole = GetParam().compress(some_capture(20000));
  Capture capture(whole, "memory");
  FrameBatch batch;
  EXPECT_TRUE(capture.next(batch));
}

TEST_P(Compressed, RandomCorruptionsAreSurvived) {
  const Octets whole = GetParam().compress(some_capture(200));
  std::mt19937 random(4);
  for (int run = 0; run < 300; ++run) {
    Octets octets = whole;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      octets[random() % octets.size()] = static_cast<u8>(random());
    }
    try {
      Capture capture(octets, "memory");
      EXPECT_LE(read_all(capture).size(), 100000U);
    } catch (const std::runtime_error&) {
      // nothing of it could be read
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Compressed,
                         testing::Values(Method{"gzip", gzip}, Method{"zstd", zstd},
                                         Method{"lz4", lz4}));

// It may have been a further member: what is lost is not known, but told.
TEST_P(Compressed, SomethingElseBehindItIsDamage) {
  Octets followed = GetParam().compress(some_capture(10));
  const Octets garbage = payload(512);
  followed.insert(followed.end(), garbage.begin(), garbage.end());
  Capture capture(followed, "memory");
  EXPECT_EQ(read_all(capture).size(), 10U);
  EXPECT_EQ(capture.info().damage_count, 1U);
}

TEST(Gzip, PaddingAfterTheLastMemberIsIgnored) {
  Octets padded = gzip(some_capture(10));
  padded.resize(padded.size() + 512);
  Capture capture(padded, "memory");
  EXPECT_EQ(read_all(capture).size(), 10U);
  EXPECT_EQ(capture.info().damage_count, 0U);
}

TEST(ReadAhead, FailuresReachTheReader) {
  class Failing final : public ByteStream {
   public:
    std::size_t read(u8* into, std::size_t) override {
      if (count_++ > 3) throw std::runtime_error("disk on fire");
      *into = 1;
      return 1;
    }
    u64 bytes_read() const override { return 0; }
    u64 total_size() const override { return 0; }

   private:
    int count_ = 0;
  };
  const auto stream = read_ahead(std::make_unique<Failing>());
  u8 octets[16];
  EXPECT_THROW(
      {
        while (stream->read(octets, sizeof octets) > 0) continue;
      },
      std::runtime_error);
}

}  // namespace
}  // namespace rocetrace::test
