// SPDX-License-Identifier: BSD-3-Clause
// What a port says of its classes of traffic: the Data Center Bridging TLVs (IEEE 802.1Qaz, 38, and
// the CEE format that came before it) in LLDP (IEEE 802.1AB, 8). EtherType 0x88cc.
//
// They tell which priorities are lossless, how bandwidth is shared, and which priority RoCE is
// meant to use; a host and a switch port that disagree are a usual cause of loss.

#pragma once

#include <string_view>

#include "roce/wire/bytes.hpp"

namespace roce {

inline constexpr u16 kLldpEtherType = 0x88cc;

/// Priority-based flow control, as configured.
struct PfcSetting {
  bool willing = false;  // takes the peer's setting
  u8 capability = 0;     // how many classes can be lossless at once
  u8 enabled = 0;        // bit n: priority n is lossless

  constexpr bool operator==(const PfcSetting&) const = default;
};

/// Enhanced transmission selection, as configured.
struct EtsSetting {
  bool willing = false;
  std::array<u8, 8> group{};      // of each priority: its traffic class (CEE: priority group)
  std::array<u8, 8> bandwidth{};  // of each traffic class, percent
  std::array<u8, 8> algorithm{};  // of each class: 0 strict priority, 2 ETS; 0 in CEE

  constexpr bool operator==(const EtsSetting&) const = default;
};

/// What an application priority is chosen by (IEEE 802.1Qaz, D.2.11.3).
enum class Selector : u8 { ether_type = 1, tcp_port = 2, udp_port = 3, port = 4, dscp = 5 };

/// "What has this EtherType, port or DSCP goes with this priority."
struct ApplicationPriority {
  Selector selector{};
  u16 value = 0;
  u8 priority = 0;

  constexpr bool operator==(const ApplicationPriority&) const = default;
  /// Whether it is about RoCE: its EtherType, or UDP port 4791.
  constexpr bool is_for_roce() const {
    if (selector == Selector::ether_type) return value == 0x8915;
    return (selector == Selector::udp_port || selector == Selector::port) && value == 4791;
  }
};

/// A data unit of LLDP, as far as it concerns RoCE. The texts point into the frame.
struct Lldp {
  static constexpr std::size_t kMostApplications = 64;

  std::string_view port_id;  // empty if it is no text
  std::string_view port_description;
  std::string_view system_name;
  bool is_cee = false;
  std::optional<PfcSetting> pfc;
  std::optional<EtsSetting> ets;
  std::array<ApplicationPriority, kMostApplications> applications{};
  std::size_t application_count = 0;

  std::span<const ApplicationPriority> priorities() const {
    return {applications.data(), application_count};
  }
  bool has_dcbx() const { return pfc || ets || application_count > 0; }
};

namespace detail {

inline std::string_view text_of(Bytes bytes) {
  // The one place where bytes become characters: the same memory, seen as char.
  return {static_cast<const char*>(static_cast<const void*>(bytes.data())), bytes.size()};
}

/// Calls visit(type, value) for each TLV (7 bits of type, 9 of length) that lies whole in `bytes`.
template <class Visit>
void each_tlv(Bytes bytes, Visit visit) {
  while (const auto header = read<be16>(bytes)) {
    const unsigned type = *header >> 9u;
    const std::size_t size = *header & 0x1ffu;
    bytes = bytes.subspan(sizeof(be16));
    if (type == 0 || size > bytes.size()) return;
    visit(type, bytes.first(size));
    bytes = bytes.subspan(size);
  }
}

inline void add_application(Lldp& out, const ApplicationPriority& application) {
  if (out.application_count < Lldp::kMostApplications)
    out.applications[out.application_count++] = application;
}

/// `body` starts behind the organisation and subtype.
inline void read_ieee(unsigned subtype, Bytes body, Lldp& out) {
  constexpr unsigned kEts = 9, kPfc = 11, kApplication = 12;
  if (subtype == kEts && body.size() >= 21) {
    EtsSetting ets{.willing = body[0] >> 7 != 0};
    for (std::size_t i = 0; i < 8; i++) {
      ets.group[i] = static_cast<u8>(body[1 + i / 2] >> (i % 2 == 0 ? 4 : 0) & 15);
      ets.bandwidth[i] = body[5 + i];
      ets.algorithm[i] = body[13 + i];
    }
    out.ets = ets;
  } else if (subtype == kPfc && body.size() >= 2) {
    out.pfc = PfcSetting{body[0] >> 7 != 0, static_cast<u8>(body[0] & 15), body[1]};
  } else if (subtype == kApplication && !body.empty()) {
    for (body = body.subspan(1); body.size() >= 3; body = body.subspan(3)) {
      const unsigned selector = body[0] & 7u;
      if (selector < 1 || selector > 5) continue;
      add_application(out,
                      {static_cast<Selector>(selector), static_cast<u16>(body[1] << 8 | body[2]),
                       static_cast<u8>(body[0] >> 5)});
    }
  }
}

/// CEE's TLVs lie in one TLV, each with a header of four bytes: versions, flags, subtype.
inline void read_cee(Bytes body, Lldp& out) {
  constexpr unsigned kGroups = 2, kPfc = 3, kApplication = 4;
  each_tlv(body, [&](unsigned type, Bytes value) {
    if (value.size() < 4) return;
    const bool willing = (value[2] & 0x40) != 0;
    value = value.subspan(4);
    if (type == kGroups && value.size() >= 12) {
      EtsSetting ets{.willing = willing};
      for (std::size_t i = 0; i < 8; i++) {
        ets.group[i] = static_cast<u8>(value[i / 2] >> (i % 2 == 0 ? 4 : 0) & 15);
        ets.bandwidth[i] = value[4 + i];
      }
      out.ets = ets;
    } else if (type == kPfc && value.size() >= 2) {
      out.pfc = PfcSetting{willing, value[1], value[0]};
    } else if (type == kApplication) {
      for (; value.size() >= 6; value = value.subspan(6)) {
        const u16 number = static_cast<u16>(value[0] << 8 | value[1]);
        const Selector selector = (value[2] & 3) == 0 ? Selector::ether_type : Selector::port;
        for (unsigned priority = 0; priority < 8; priority++)
          if (value[5] >> priority & 1)
            add_application(out, {selector, number, static_cast<u8>(priority)});
      }
    }
  });
}

}  // namespace detail

/// Decodes what follows the EtherType. What was not captured, or contradicts itself, is left out.
inline Lldp decode_lldp(Bytes bytes) {
  constexpr unsigned kPortId = 2, kPortDescription = 4, kSystemName = 5, kOrganisation = 127;
  constexpr u32 kIeee = 0x0080c2, kCee = 0x001b21;
  Lldp out;
  detail::each_tlv(bytes, [&](unsigned type, Bytes value) {
    switch (type) {
      case kPortId: {
        // Subtypes: 1 interface alias, 5 interface name, 7 locally assigned; others are binary.
        const unsigned subtype = value.empty() ? 0u : value[0];
        if (subtype == 1 || subtype == 5 || subtype == 7)
          out.port_id = detail::text_of(value.subspan(1));
        break;
      }
      case kPortDescription: out.port_description = detail::text_of(value); break;
      case kSystemName: out.system_name = detail::text_of(value); break;
      case kOrganisation: {
        if (value.size() < 4) break;
        const u32 organisation = *read<be24>(value);
        if (organisation == kIeee) detail::read_ieee(value[3], value.subspan(4), out);
        if (organisation == kCee && value[3] == 2) {
          out.is_cee = true;
          detail::read_cee(value.subspan(4), out);
        }
        break;
      }
      default: break;
    }
  });
  return out;
}

}  // namespace roce
