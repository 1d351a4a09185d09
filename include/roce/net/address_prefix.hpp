// SPDX-License-Identifier: BSD-3-Clause
// Addresses as people write them: one, or all of a subnet.

#pragma once

#include <algorithm>
#include <optional>

#include "roce/net/address.hpp"

namespace roce::net {

namespace detail {

/// The number that `text` is, whole; nothing if it is none, or above `most`.
inline std::optional<u32> parse_number(std::string_view text, int base, u32 most) {
  u32 value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

/// Takes what lies before the first `separator`, or all, and that separator.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t at = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

inline std::optional<u32> parse_ipv4(std::string_view text) {
  u32 value = 0;
  for (int i = 0; i < 4; i++) {
    const bool last = i == 3;
    if (!last && text.find('.') == std::string_view::npos) return std::nullopt;
    const std::string_view part = last ? text : take_until(text, '.');
    const auto octet = parse_number(part, 10, 255);
    if (!octet || part.size() > 3) return std::nullopt;
    value = value << 8 | *octet;
  }
  return value;
}

/// The groups of one side of "::", appended to `octets` at `count`. False if they are none. At the
/// end of an address, an IPv4 address may stand for the last two.
inline bool parse_groups(std::string_view text, bool at_end, std::array<u8, 16>& octets,
                         std::size_t& count) {
  while (!text.empty()) {
    const bool last = text.find(':') == std::string_view::npos;
    const std::string_view part = take_until(text, ':');
    if (last && at_end && part.find('.') != std::string_view::npos) {
      const auto ipv4 = parse_ipv4(part);
      if (!ipv4 || count > 12) return false;
      for (unsigned i = 0; i < 4; i++) octets[count++] = static_cast<u8>(*ipv4 >> (24 - 8 * i));
      return true;
    }
    const auto group = parse_number(part, 16, 0xffff);
    // "a:" ends in a separator that separates nothing.
    if (!group || part.size() > 4 || count > 14 || (!last && text.empty())) return false;
    octets[count++] = static_cast<u8>(*group >> 8);
    octets[count++] = static_cast<u8>(*group);
  }
  return true;
}

inline std::optional<Address> parse_ipv6(std::string_view text) {
  std::array<u8, 16> front{}, back{};
  std::size_t front_size = 0, back_size = 0;
  const std::size_t gap = text.find("::");
  if (!parse_groups(text.substr(0, gap), gap == std::string_view::npos, front, front_size))
    return std::nullopt;
  if (gap == std::string_view::npos) {
    if (front_size != 16) return std::nullopt;
    return Address::ipv6(front);
  }
  if (!parse_groups(text.substr(gap + 2), true, back, back_size)) return std::nullopt;
  if (front_size + back_size > 14) return std::nullopt;
  std::copy_n(back.begin(), back_size, front.end() - static_cast<std::ptrdiff_t>(back_size));
  return Address::ipv6(front);
}

}  // namespace detail

/// Reads 10.0.0.1, an IPv6 address or GID in any of its forms (RFC 4291, 2.2), or lid:23.
inline std::optional<Address> parse_address(std::string_view text) {
  constexpr std::string_view kLid = "lid:";
  if (text.starts_with(kLid)) {
    const auto lid = detail::parse_number(text.substr(kLid.size()), 10, 0xffff);
    return lid ? std::optional(Address::lid(static_cast<u16>(*lid))) : std::nullopt;
  }
  if (text.find(':') != std::string_view::npos) return detail::parse_ipv6(text);
  const auto ipv4 = detail::parse_ipv4(text);
  return ipv4 ? std::optional(Address::ipv4(*ipv4)) : std::nullopt;
}

/// All addresses that share their first bits.
struct AddressPrefix {
  Address address;
  unsigned bits = 128;  // of the 16 octets; an IPv4 address counts as the last 32 of them

  /// RoCEv1 carries IPv4 addresses in GIDs (::ffff:10.0.0.1), so those are the same here.
  bool holds(const Address& other) const {
    if ((address.kind == AddressKind::lid) != (other.kind == AddressKind::lid)) return false;
    if (other.kind == AddressKind::none) return false;
    const std::array<u8, 16> a = as_gid(address), b = as_gid(other);
    for (unsigned i = 0; i < bits; i++)
      if (((a[i / 8] ^ b[i / 8]) >> (7 - i % 8) & 1) != 0) return false;
    return true;
  }

 private:
  static std::array<u8, 16> as_gid(const Address& address) {
    if (address.kind != AddressKind::ipv4) return address.octets;
    std::array<u8, 16> out{};
    out[10] = out[11] = 0xff;
    std::copy_n(address.octets.begin(), 4, out.begin() + 12);
    return out;
  }
};

/// Reads an address, or one with the length of its prefix: 10.0.0.0/24.
inline std::optional<AddressPrefix> parse_prefix(std::string_view text) {
  const bool has_length = text.find('/') != std::string_view::npos;
  const auto address = parse_address(detail::take_until(text, '/'));
  if (!address) return std::nullopt;
  if (!has_length) return AddressPrefix{*address, 128};
  const bool is_ipv4 = address->kind == AddressKind::ipv4;
  const auto bits = detail::parse_number(text, 10, is_ipv4 ? 32 : 128);
  if (!bits) return std::nullopt;
  return AddressPrefix{*address, is_ipv4 ? 96 + *bits : *bits};
}

}  // namespace roce::net
