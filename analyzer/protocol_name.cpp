// SPDX-License-Identifier: BSD-3-Clause
#include "protocol_name.hpp"

namespace rocetrace {

using roce::u16;
using roce::u8;

namespace {

constexpr u16 kEthernet = 1;

u16 word_at(roce::Bytes bytes, std::size_t at) {
  return static_cast<u16>(bytes[at] << 8 | bytes[at + 1]);
}

std::string_view ip_name(u8 protocol) {
  switch (protocol) {
    case 1: return "ICMP";
    case 2: return "IGMP";
    case 6: return "TCP";
    case 17: return "UDP";
    case 47: return "GRE";
    case 50: return "IPsec ESP";
    case 58: return "ICMPv6";
    case 132: return "SCTP";
    default: return "other IP";
  }
}

}  // namespace

std::string_view protocol_name(const Frame& frame) {
  if (frame.link_type != kEthernet) return "not Ethernet";
  const roce::Bytes bytes = frame.bytes;
  std::size_t at = 12;
  if (bytes.size() < at + 2) return "cut short";
  u16 type = word_at(bytes, at);
  while ((type == 0x8100 || type == 0x88a8 || type == 0x9100) && bytes.size() >= at + 6) {
    at += 4;
    type = word_at(bytes, at);
  }
  at += 2;
  switch (type) {
    case 0x0800: return bytes.size() > at + 9 ? ip_name(bytes[at + 9]) : "IPv4";
    case 0x86dd: return bytes.size() > at + 6 ? ip_name(bytes[at + 6]) : "IPv6";
    case 0x0806: return "ARP";
    case 0x8808: return "MAC control (pause)";
    case 0x88cc: return "LLDP";
    case 0x8809: return "LACP";
    case 0x88e5: return "MACsec";
    case 0x8915: return "RoCEv1, not decodable";
    default: return type < 0x0600 ? "802.3 LLC" : "other Ethernet";
  }
}

}  // namespace rocetrace
