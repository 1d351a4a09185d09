// SPDX-License-Identifier: BSD-3-Clause
// Network addresses as values, and as small numbers for tables keyed by them.

#pragma once

#include <charconv>
#include <string_view>
#include <vector>

#include "roce/wire/bytes.hpp"
#include "roce/wire/hash_seed.hpp"

namespace roce::net {

enum class AddressKind : u8 { none, ipv4, ipv6, lid };

/// An address written out. Converts to a string_view that lives as long as this does.
class AddressText {
 public:
  constexpr operator std::string_view() const { return {chars_.data(), size_}; }
  constexpr std::string_view view() const { return {chars_.data(), size_}; }

 private:
  friend struct Address;
  void add(std::string_view text) {
    for (char c : text) chars_[size_++] = c;
  }
  void add(u32 number, int base) {
    const auto end =
        std::to_chars(chars_.data() + size_, chars_.data() + chars_.size(), number, base);
    size_ = static_cast<u8>(end.ptr - chars_.data());
  }
  std::array<char, 47> chars_{};
  u8 size_ = 0;
};

/// An IPv4 address, an IPv6 address or GID, or an InfiniBand LID.
struct Address {
  std::array<u8, 16> octets{};  // IPv4 uses the first four, a LID the first two
  AddressKind kind = AddressKind::none;

  bool operator==(const Address&) const = default;

  static constexpr Address ipv4(u32 value) {
    Address address;
    for (unsigned i = 0; i < 4; i++) address.octets[i] = static_cast<u8>(value >> (24 - 8 * i));
    address.kind = AddressKind::ipv4;
    return address;
  }
  static constexpr Address ipv6(const std::array<u8, 16>& octets) {
    return {octets, AddressKind::ipv6};
  }
  static constexpr Address lid(u16 value) {
    Address address;
    address.octets[0] = static_cast<u8>(value >> 8);
    address.octets[1] = static_cast<u8>(value);
    address.kind = AddressKind::lid;
    return address;
  }

  /// The first four octets as a number: of an IPv4 address, all of it.
  constexpr u32 ipv4_value() const {
    return u32{octets[0]} << 24 | u32{octets[1]} << 16 | u32{octets[2]} << 8 | octets[3];
  }

  /// 10.0.0.1, fe80::1 (RFC 5952, IPv4-mapped ones with dots), or lid:23; "-" for none.
  AddressText text() const {
    AddressText out;
    switch (kind) {
      case AddressKind::none: out.add("-"); break;
      case AddressKind::ipv4: write_ipv4(out, 0); break;
      case AddressKind::ipv6: write_ipv6(out); break;
      case AddressKind::lid:
        out.add("lid:");
        out.add(u32{octets[0]} << 8 | octets[1], 10);
        break;
    }
    return out;
  }

 private:
  void write_ipv4(AddressText& out, std::size_t from) const {
    for (std::size_t i = 0; i < 4; i++) {
      if (i > 0) out.add(".");
      out.add(octets[from + i], 10);
    }
  }

  constexpr u32 group(std::size_t i) const { return u32{octets[2 * i]} << 8 | octets[2 * i + 1]; }

  void write_ipv6(AddressText& out) const {
    bool mapped = group(5) == 0xffff;
    for (std::size_t i = 0; i < 5; i++) mapped = mapped && group(i) == 0;
    if (mapped) {
      out.add("::ffff:");
      write_ipv4(out, 12);
      return;
    }
    // RFC 5952, 4.2: the longest run of two or more zero groups is left out, the first if equal.
    std::size_t run = 8, run_size = 1;
    for (std::size_t i = 0; i < 8; i++) {
      std::size_t end = i;
      while (end < 8 && group(end) == 0) end++;
      if (end - i > run_size) run = i, run_size = end - i;
      if (end > i) i = end - 1;
    }
    for (std::size_t i = 0; i < 8; i++) {
      if (i == run) {
        out.add("::");
        i += run_size - 1;
        continue;
      }
      if (i > 0 && i != run + run_size) out.add(":");
      out.add(group(i), 16);
    }
  }
};

/// Gives every address a 32-bit id, the same for the same address, in the order of first sight.
/// An IPv4 address below 240.0.0.0 is its own id, so that the common case needs no look-up.
class AddressTable {
 public:
  u32 id_of_ipv4(u32 value) {
    if (value < kFirstStored) [[likely]]
      return value;
    return stored(Address::ipv4(value));
  }
  u32 id_of(const Address& address) {
    if (address.kind == AddressKind::ipv4) return id_of_ipv4(address.ipv4_value());
    return stored(address);
  }
  /// `octets` points to the 16 bytes of an IPv6 address or GID.
  u32 id_of_ipv6(const u8* octets) {
    // Addresses come in runs, so nearly all are found here, for one multiplication.
    u64 high, low;
    std::memcpy(&high, octets, 8);
    std::memcpy(&low, octets + 8, 8);
    Recent& recent = recent_[(high ^ low) * 0x9e37'79b9'7f4a'7c15u >> 56];
    if (recent.high == high && recent.low == low && recent.id != 0) [[likely]]
      return recent.id;
    Address address;
    std::memcpy(address.octets.data(), octets, 16);
    address.kind = AddressKind::ipv6;
    recent = {high, low, stored(address)};
    return recent.id;
  }

  /// The address of an id that this table gave out; the empty address for any other.
  Address address(u32 id) const {
    if (id < kFirstStored) return Address::ipv4(id);
    const std::size_t index = id - kFirstStored;
    return index < addresses_.size() ? addresses_[index] : Address{};
  }

 private:
  static constexpr u32 kFirstStored = 0xf000'0000;
  static constexpr u32 kMostStored = 0x0fff'ffff;
  static constexpr u32 kEmpty = 0xffff'ffff;

  struct Recent {
    u64 high = 0, low = 0;
    u32 id = 0;  // 0: none
  };

  [[gnu::noinline]] u32 stored(const Address& address) {
    if (2 * (addresses_.size() + 1) > slots_.size()) grow();
    std::size_t slot = hash(address) & (slots_.size() - 1);
    while (slots_[slot] != kEmpty) {
      if (addresses_[slots_[slot]] == address) return kFirstStored + slots_[slot];
      slot = (slot + 1) & (slots_.size() - 1);
    }
    // More addresses than ids: the last id stands for the rest.
    if (addresses_.size() >= kMostStored) return kFirstStored + kMostStored;
    slots_[slot] = static_cast<u32>(addresses_.size());
    addresses_.push_back(address);
    return kFirstStored + slots_[slot];
  }

  void grow() {
    slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), kEmpty);
    for (std::size_t i = 0; i < addresses_.size(); i++) {
      std::size_t slot = hash(addresses_[i]) & (slots_.size() - 1);
      while (slots_[slot] != kEmpty) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<u32>(i);
    }
  }

  static u64 hash(const Address& address) {
    u64 high, low;
    std::memcpy(&high, address.octets.data(), 8);
    std::memcpy(&low, address.octets.data() + 8, 8);
    // Both halves have to reach every bit: neighbours differ in their last octet alone.
    u64 mixed = (high ^ static_cast<u64>(address.kind) ^ kHashSeed) * 0x9e37'79b9'7f4a'7c15u ^ low;
    mixed = (mixed ^ mixed >> 32) * 0xbf58'476d'1ce4'e5b9u;
    mixed = (mixed ^ mixed >> 29) * 0x94d0'49bb'1331'11ebu;
    return mixed ^ mixed >> 32;
  }

  std::vector<Address> addresses_;
  std::vector<u32> slots_;  // indices into addresses_, or kEmpty; a power of two of them
  std::array<Recent, 256> recent_{};
};

}  // namespace roce::net
