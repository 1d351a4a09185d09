// SPDX-License-Identifier: BSD-3-Clause
// Sampled packets in sFlow datagrams.

#include "roce/net/sflow.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "roce/net/unopened.hpp"
#include "support/wrap.hpp"

namespace roce::net {
namespace {

using test::Buffer;

void put_words(Buffer& out, std::initializer_list<u32> words) {
  for (const u32 word : words) test::put(out, word, 4);
}
Buffer record(u32 format, const Buffer& body) {
  Buffer out;
  put_words(out, {format, static_cast<u32>(body.size())});
  test::put(out, body);
  return out;
}
Buffer raw_header(u32 protocol, u32 frame_size, const Buffer& header) {
  Buffer body;
  put_words(body, {protocol, frame_size, 4, static_cast<u32>(header.size())});
  test::put(body, header);
  body.resize((body.size() + 3) / 4 * 4);
  return record(1, body);
}
Buffer flow_sample(u32 rate, u32 records, const Buffer& content) {
  Buffer body;
  put_words(body, {1, 7, rate, 100, 2, 7, 9, records});
  test::put(body, content);
  return record(1, body);
}
Buffer expanded_sample(u32 rate, const Buffer& content) {
  Buffer body;
  put_words(body, {1, 0, 7, rate, 100, 2, 0, 7, 0, 9, 1});
  test::put(body, content);
  return record(3, body);
}
Buffer datagram(u32 samples, const Buffer& content) {
  Buffer out;
  put_words(out, {5, 1, 0x0a00'00fe, 0, 1, 1000, samples});
  test::put(out, content);
  return out;
}

const Buffer kFrame = test::Packet{.opcode = 0x04, .psn = 9, .payload_size = 1024}.frame();
const Buffer kHeader(kFrame.begin(), kFrame.begin() + 126);  // not a multiple of 4

std::vector<SflowSample> decode(const Buffer& bytes) {
  std::vector<SflowSample> out;
  decode_sflow(bytes, [&](const SflowSample& sample) { out.push_back(sample); });
  return out;
}

TEST(Sflow, CarriesTheBeginningsOfFrames) {
  Buffer counters = record(2, Buffer(40));
  Buffer content = flow_sample(4096, 2, test::wrap({}, raw_header(1, 1090, kHeader)));
  test::put(content, counters);
  const Buffer bytes = datagram(2, content);
  const auto samples = decode(bytes);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].agent.text().view(), "10.0.0.254");
  EXPECT_EQ(samples[0].rate, 4096u);
  EXPECT_EQ(samples[0].drops, 2u);
  EXPECT_EQ(samples[0].frame_size, 1090u);
  EXPECT_EQ(samples[0].link_type, 1);
  EXPECT_TRUE(std::ranges::equal(samples[0].header, kHeader));
}

TEST(Sflow, ExpandedSamplesAreTheSame) {
  const Buffer bytes = datagram(1, expanded_sample(512, raw_header(11, 1076, {0x45, 0, 0, 0})));
  const auto samples = decode(bytes);
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].rate, 512u);
  EXPECT_EQ(samples[0].link_type, 228);
}

TEST(Sflow, IsNamedByTheWalk) {
  const Buffer frame = test::ethernet(0x0800, test::ipv4(17, test::udp(6343, datagram(0, {}))));
  Path path;
  EXPECT_EQ(walk_to_unopened(frame, frame.size(), 1, path).next, kSflow);
}

TEST(Sflow, OtherVersionsAndLiesAreNoSamples) {
  EXPECT_FALSE(decode_sflow(Buffer{0, 0, 0, 4}, [](const SflowSample&) {}));
  EXPECT_TRUE(decode(datagram(0xffff'ffff, {})).empty());
  EXPECT_TRUE(decode(datagram(1, flow_sample(1, 0xffff'ffff, {}))).empty());
}

TEST(Sflow, SurvivesEveryCut) {
  const Buffer whole = datagram(1, flow_sample(4096, 1, raw_header(1, 1090, kHeader)));
  for (std::size_t size = 0; size < whole.size(); size++) {
    const Buffer cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    for (const SflowSample& sample : decode(cut)) EXPECT_LE(sample.header.size(), kHeader.size());
  }
}

}  // namespace
}  // namespace roce::net
