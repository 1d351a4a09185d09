// SPDX-License-Identifier: BSD-3-Clause
// Addresses as text, and as ids.

#include "roce/net/address.hpp"

#include <gtest/gtest.h>

#include "support/packet.hpp"

namespace roce::net {
namespace {

using test::address;

TEST(Address, TextIsCanonical) {
  for (const char* text :
       {"10.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "2001:db8::1:0:0:1",
        "2001:db8:0:1:1:1:1:1", "1:0:0:2::3", "1::", "::ffff:10.0.0.1", "0:1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:0", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "64:ff9b::a00:1"}) {
    EXPECT_EQ(address(text).text().view(), text);
  }
}

TEST(Address, OneZeroGroupIsWrittenOut) {
  EXPECT_EQ(address("1:2:3::5:6:7:8").text().view(), "1:2:3:0:5:6:7:8");
}

TEST(Address, TheFirstOfEqualRunsIsLeftOut) {
  EXPECT_EQ(address("1:0:0:2:3:0:0:4").text().view(), "1::2:3:0:0:4");
}

TEST(Address, ALidSaysThatItIsOne) {
  EXPECT_EQ(Address::lid(23).text().view(), "lid:23");
  EXPECT_EQ(Address{}.text().view(), "-");
}

TEST(AddressTable, AnIpv4AddressIsItsOwnId) {
  AddressTable table;
  EXPECT_EQ(table.id_of(address("10.0.0.1")), 0x0a000001u);
  EXPECT_EQ(table.id_of_ipv4(0xefff'ffff), 0xefff'ffffu);
  EXPECT_EQ(table.address(0x0a000001), address("10.0.0.1"));
}

TEST(AddressTable, OthersCountUpInOrderOfFirstSight) {
  AddressTable table;
  EXPECT_EQ(table.id_of(address("fe80::1")), 0xf000'0000u);
  EXPECT_EQ(table.id_of(address("255.255.255.255")), 0xf000'0001u);
  EXPECT_EQ(table.id_of(address("fe80::2")), 0xf000'0002u);
  EXPECT_EQ(table.id_of(address("fe80::1")), 0xf000'0000u);
  EXPECT_EQ(table.address(0xf000'0001), address("255.255.255.255"));
  EXPECT_EQ(table.address(0xf000'0003), Address{});
}

TEST(AddressTable, KindsDoNotMix) {
  AddressTable table;
  const u32 gid = table.id_of(address("::"));
  EXPECT_NE(gid, table.id_of(Address::lid(0)));
  EXPECT_NE(gid, table.id_of(Address{}));
}

TEST(AddressTable, ManyAddressesKeepTheirIds) {
  AddressTable table;
  Address one = address("2001:db8::");
  for (u32 round = 0; round < 2; round++) {
    for (u32 i = 0; i < 100'000; i++) {
      one.octets[13] = static_cast<u8>(i >> 16);
      one.octets[14] = static_cast<u8>(i >> 8);
      one.octets[15] = static_cast<u8>(i);
      ASSERT_EQ(table.id_of(one), 0xf000'0000u + i);
    }
  }
}

}  // namespace
}  // namespace roce::net
