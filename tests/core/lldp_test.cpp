// SPDX-License-Identifier: BSD-3-Clause
// What switches and NICs say of their priorities.

#include "roce/wire/lldp.hpp"

#include <gtest/gtest.h>

#include "support/wrap.hpp"

namespace roce {
namespace {

using test::Buffer;

Buffer tlv(unsigned type, const Buffer& value) {
  Buffer out;
  test::put(out, type << 9 | value.size(), 2);
  test::put(out, value);
  return out;
}
Buffer text(unsigned type, std::string_view words) {
  return tlv(type, Buffer(words.begin(), words.end()));
}
Buffer ieee(unsigned subtype, std::initializer_list<unsigned> value) {
  return tlv(127, test::wrap({0x00, 0x80, 0xc2, subtype}, test::wrap(value, {})));
}
Buffer joined(std::initializer_list<Buffer> parts) {
  Buffer out;
  for (const Buffer& part : parts) test::put(out, part);
  return out;
}

const Buffer kIeee = joined(
    {tlv(1, test::wrap({4, 2, 0, 0, 0, 0, 1}, {})), tlv(2, test::wrap({5, 's', 'w', 'p', '7'}, {})),
     tlv(3, {0, 120}), text(4, "to rack 3"), text(5, "leaf1"),
     ieee(9, {0x80, 0x01, 0x23, 0x45, 0x67, 0, 0, 0, 50, 0, 0, 0, 50, 2, 2, 2, 2, 2, 2, 2, 0}),
     ieee(11, {0x88, 0x08}),
     ieee(12, {0, 0x63, 0x12, 0xb7, 0x61, 0x89, 0x15, 0x65, 0x00, 0x1a, 0x60, 0, 0}), tlv(0, {})});

TEST(Lldp, IeeeDcbxIsRead) {
  const Lldp seen = decode_lldp(kIeee);
  EXPECT_EQ(seen.port_id, "swp7");
  EXPECT_EQ(seen.port_description, "to rack 3");
  EXPECT_EQ(seen.system_name, "leaf1");
  EXPECT_FALSE(seen.is_cee);
  ASSERT_TRUE(seen.pfc);
  EXPECT_TRUE(seen.pfc->willing);
  EXPECT_EQ(seen.pfc->capability, 8);
  EXPECT_EQ(seen.pfc->enabled, 1 << 3);
  ASSERT_TRUE(seen.ets);
  EXPECT_EQ(seen.ets->group[0], 0);
  EXPECT_EQ(seen.ets->group[3], 3);
  EXPECT_EQ(seen.ets->bandwidth[3], 50);
  EXPECT_EQ(seen.ets->algorithm[7], 0);
  ASSERT_EQ(seen.priorities().size(), 3u);
  EXPECT_EQ(seen.priorities()[0], (ApplicationPriority{Selector::udp_port, 4791, 3}));
  EXPECT_TRUE(seen.priorities()[0].is_for_roce());
  EXPECT_TRUE(seen.priorities()[1].is_for_roce());
  EXPECT_EQ(seen.priorities()[2], (ApplicationPriority{Selector::dscp, 26, 3}));
}

TEST(Lldp, CeeDcbxIsReadToo) {
  const Buffer groups =
      tlv(2, test::wrap({0, 0, 0x40, 0, 0x00, 0x01, 0, 0, 40, 60, 0, 0, 0, 0, 0, 0, 8}, {}));
  const Buffer pfc = tlv(3, test::wrap({0, 0, 0x80, 0, 0x08, 4}, {}));
  const Buffer applications =
      tlv(4, test::wrap({0, 0, 0x80, 0, 0x89, 0x15, 0, 0, 0, 0x08, 0x12, 0xb7, 1, 0, 0, 0x28}, {}));
  const Lldp seen =
      decode_lldp(tlv(127, test::wrap({0x00, 0x1b, 0x21, 2}, joined({groups, pfc, applications}))));
  EXPECT_TRUE(seen.is_cee);
  ASSERT_TRUE(seen.ets);
  EXPECT_TRUE(seen.ets->willing);
  EXPECT_EQ(seen.ets->group[3], 1);
  EXPECT_EQ(seen.ets->bandwidth[1], 60);
  ASSERT_TRUE(seen.pfc);
  EXPECT_EQ(seen.pfc->enabled, 8);
  EXPECT_EQ(seen.pfc->capability, 4);
  ASSERT_EQ(seen.priorities().size(), 3u);
  EXPECT_EQ(seen.priorities()[0], (ApplicationPriority{Selector::ether_type, 0x8915, 3}));
  EXPECT_EQ(seen.priorities()[1], (ApplicationPriority{Selector::port, 4791, 3}));
  EXPECT_EQ(seen.priorities()[2], (ApplicationPriority{Selector::port, 4791, 5}));
}

TEST(Lldp, WithoutDcbxItSaysNothingOfPriorities) {
  EXPECT_FALSE(decode_lldp(text(5, "leaf1")).has_dcbx());
  EXPECT_FALSE(decode_lldp({}).has_dcbx());
}

TEST(Lldp, SurvivesEveryCut) {
  for (std::size_t size = 0; size <= kIeee.size(); size++) {
    const Buffer cut(kIeee.begin(), kIeee.begin() + static_cast<std::ptrdiff_t>(size));
    const Lldp seen = decode_lldp(cut);
    EXPECT_LE(seen.application_count, 3u);
  }
}

TEST(Lldp, KeepsSoManyApplicationsAndNoMore) {
  Buffer all;
  for (int i = 0; i < 40; i++)
    test::put(all, ieee(12, {0, 0x63, 0x12, 0xb7, 0x63, 0x12, 0xb7, 0x63, 0x12, 0xb7}));
  EXPECT_EQ(decode_lldp(all).priorities().size(), Lldp::kMostApplications);
}

}  // namespace
}  // namespace roce
