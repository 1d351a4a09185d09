// SPDX-License-Identifier: BSD-3-Clause
// MAC control frames that stop a sender, found in an Ethernet frame.

#pragma once

#include "roce/net/path.hpp"
#include "roce/wire/pause.hpp"

namespace roce::net {

struct PauseFrame {
  std::array<u8, 6> source_mac{};
  bool by_priority = false;   // PFC; otherwise `time[0]` is for all
  u8 enabled = 1;             // bit n: priority n is meant
  std::array<u16, 8> time{};  // quanta of kPauseQuantumBits bit times; 0: go on

  constexpr bool operator==(const PauseFrame&) const = default;
};

/// Decodes a frame of LINKTYPE_ETHERNET. Nothing if it is no pause, or its times were not captured.
inline std::optional<PauseFrame> decode_pause(Bytes frame) {
  struct Ethernet {
    std::array<u8, 6> destination, source;
    be16 type;
  };
  const auto ethernet = read<Ethernet>(frame);
  if (!ethernet || ethernet->type != kMacControlEtherType) return std::nullopt;
  const Bytes body = frame.subspan(sizeof(Ethernet));
  PauseFrame out;
  out.source_mac = ethernet->source;
  const auto pause = read<Pause>(body);
  if (pause && pause->opcode == kPauseOpcode) {
    out.time[0] = pause->time;
    return out;
  }
  const auto pfc = read<Pfc>(body);
  if (!pfc || pfc->opcode != kPfcOpcode) return std::nullopt;
  out.by_priority = true;
  out.enabled = static_cast<u8>(pfc->enabled);
  for (std::size_t i = 0; i < out.time.size(); i++) out.time[i] = pfc->time[i];
  return out;
}

}  // namespace roce::net
