// SPDX-License-Identifier: BSD-3-Clause
// What must have been captured, or said by the user, for a kind of finding to be judged.

#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

enum class Need : roce::u8 {
  both_directions,
  answers,           // the direction that carries them
  answers_or_drops,  // both directions, or a file that counts what it dropped
  every_packet,
  one_tap,
  times,
  whole_packets,
  ethernet,
  vlan_tags,
  cm_messages,
  pause_frames,
  marks,
  lossless_class,
  counter_dumps
};

/// In the words of `rocetrace explain`.
inline constexpr std::array<std::string_view, 14> kNeedWords = {
    "both directions",
    "the direction that carries the answers",
    "both directions, or a file that counts its drops",
    "every packet, not a sample",
    "the packets of one tap, in their order",
    "time stamps",
    "whole packets, with their ICRC",
    "Ethernet headers",
    "VLAN tags",
    "packets of queue pair 1",
    "pause frames, which a host's own capture rarely shows",
    "a tap behind the switches that mark",
    "the classes that are lossless, by --lossless-dscp",
    "two dumps of the NIC's counters, by --counters-before and --counters-after"};

class Needs {
 public:
  constexpr Needs() = default;
  constexpr Needs(std::initializer_list<Need> needs) {
    for (const Need need : needs) bits_ = static_cast<roce::u16>(bits_ | 1u << index(need));
  }
  constexpr bool has(Need need) const { return bits_ >> index(need) & 1; }
  constexpr bool empty() const { return bits_ == 0; }
  /// The words of all of them, "; " between.
  std::string words() const {
    std::string text;
    for (std::size_t i = 0; i < kNeedWords.size(); i++)
      if (has(static_cast<Need>(i))) (text += text.empty() ? "" : "; ") += kNeedWords[i];
    return text;
  }

 private:
  static constexpr unsigned index(Need need) { return static_cast<unsigned>(need); }
  roce::u16 bits_ = 0;
};

}  // namespace rocetrace
