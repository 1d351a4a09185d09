// SPDX-License-Identifier: BSD-3-Clause
// Addresses as people write them.

#include "roce/net/address_prefix.hpp"

#include <gtest/gtest.h>

#include <string>

namespace roce::net {
namespace {

std::string read_back(std::string_view text) {
  const auto address = parse_address(text);
  return address ? std::string(address->text().view()) : "none";
}
bool holds(std::string_view prefix, std::string_view address) {
  return parse_prefix(prefix)->holds(*parse_address(address));
}

TEST(ParseAddress, TakesEveryForm) {
  EXPECT_EQ(read_back("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(read_back("fe80::1"), "fe80::1");
  EXPECT_EQ(read_back("FE80:0:0:0:0:0:0:1"), "fe80::1");
  EXPECT_EQ(read_back("fe80:0000:0000:0000:0211:22ff:fe33:4455"), "fe80::211:22ff:fe33:4455");
  EXPECT_EQ(read_back("::"), "::");
  EXPECT_EQ(read_back("2001:db8::"), "2001:db8::");
  EXPECT_EQ(read_back("::ffff:10.0.0.1"), "::ffff:10.0.0.1");
  EXPECT_EQ(read_back("0000:0000:0000:0000:0000:ffff:0a00:0001"), "::ffff:10.0.0.1");
  EXPECT_EQ(read_back("lid:23"), "lid:23");
}

TEST(ParseAddress, RefusesEverythingElse) {
  for (const char* text : {"",
                           "10.0.0",
                           "10.0.0.1.2",
                           "10.0.0.256",
                           "10..0.1",
                           "10.0.0.1 ",
                           "host",
                           ":",
                           ":1",
                           "1:",
                           "1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8:9",
                           "::1::",
                           "1::2:3:4:5:6:7:8",
                           "12345::",
                           "::10.0.0",
                           "1.2.3.4::",
                           "lid:",
                           "lid:65536",
                           "lid:x",
                           "-1.0.0.1",
                           "0010.0.0.1"})
    EXPECT_EQ(read_back(text), "none") << text;
}

TEST(AddressPrefix, HoldsWhatBeginsTheSame) {
  EXPECT_TRUE(holds("10.0.0.0/24", "10.0.0.77"));
  EXPECT_FALSE(holds("10.0.0.0/24", "10.0.1.77"));
  EXPECT_TRUE(holds("0.0.0.0/0", "192.0.2.1"));
  EXPECT_FALSE(holds("0.0.0.0/0", "fe80::1"));
  EXPECT_TRUE(holds("fe80::/10", "fe80::1"));
  EXPECT_TRUE(holds("fe80::1", "fe80::1"));
  EXPECT_FALSE(holds("fe80::1", "fe80::2"));
}

TEST(AddressPrefix, AnIpv4AddressIsItsGidToo) {
  EXPECT_TRUE(holds("10.0.0.1", "::ffff:10.0.0.1"));
  EXPECT_TRUE(holds("::ffff:10.0.0.1", "10.0.0.1"));
  EXPECT_TRUE(holds("10.0.0.0/24", "::ffff:10.0.0.9"));
}

TEST(AddressPrefix, ALidIsNoPartOfAnAddress) {
  EXPECT_TRUE(holds("lid:7", "lid:7"));
  EXPECT_FALSE(holds("lid:7", "7::"));
  EXPECT_FALSE(holds("::/0", "lid:7"));
}

TEST(AddressPrefix, RefusesLengthsThatAreNone) {
  for (const char* text : {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "fe80::/129", "/8"})
    EXPECT_FALSE(parse_prefix(text)) << text;
}

}  // namespace
}  // namespace roce::net
