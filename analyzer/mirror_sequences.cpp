// SPDX-License-Identifier: BSD-3-Clause
#include "mirror_sequences.hpp"

#include <algorithm>

#include "roce/net/layers.hpp"

namespace rocetrace {

using roce::u16;
using roce::u32;
using roce::u64;
using roce::u8;
using roce::net::Layer;
using roce::net::LayerKind;

namespace {

constexpr u64 kFewPackets = 8;

/// The layers down to the first GRE header, and where in them the tunnel's IP header is.
struct Tunnel {
  const Layer* gre = nullptr;
  const Layer* ip = nullptr;
};

Tunnel tunnel_of(std::span<const Layer> layers) {
  Tunnel tunnel;
  for (const Layer& layer : layers) {
    if (layer.kind == LayerKind::ipv4 || layer.kind == LayerKind::ipv6) tunnel.ip = &layer;
    if (layer.kind != LayerKind::gre) continue;
    tunnel.gre = &layer;
    break;
  }
  return tunnel;
}

}  // namespace

void SequenceGaps::begin_at(u32 number) {
  highest_ = number;
  seen_.reset();
  seen_.set(number % kWindow);
}

void SequenceGaps::note(u32 number) {
  if (packets_++ == 0) return begin_at(number);
  const u32 ahead = number - highest_;
  if (ahead != 0 && ahead <= kLongest) {
    if (ahead >= kWindow) seen_.reset();
    for (u32 step = 1; step < ahead && ahead < kWindow; step++)
      seen_.reset((highest_ + step) % kWindow);
    missing_ += ahead - 1;
    highest_ = number;
    seen_.set(number % kWindow);
    return;
  }
  const u32 behind = highest_ - number;
  if (behind >= kWindow) {
    odd_++;
    return begin_at(number);
  }
  if (seen_.test(number % kWindow) || missing_ == 0) {
    odd_++;
  } else {
    missing_--;
    seen_.set(number % kWindow);
  }
}

std::optional<u64> SequenceGaps::missing() const {
  if (packets_ < kFewPackets || 20 * odd_ > packets_ || missing_ >= packets_) return std::nullopt;
  return missing_;
}

void MirrorSequences::note(const Frame& frame) {
  roce::net::Path path;
  roce::net::walk_until(roce::net::step::kEthernet,
                        roce::net::start(frame.bytes, frame.wire_size, frame.link_type), path);
  const roce::net::Mirror& told = path.mirror;
  if (!told.has_sequence) return;
  const Tunnel tunnel = tunnel_of(path.passed());
  if (!tunnel.gre || !tunnel.ip) return;
  const bool is_ipv4 = tunnel.ip->kind == LayerKind::ipv4;
  const std::size_t begin = tunnel.ip->offset + (is_ipv4 ? 12u : 8u), size = is_ipv4 ? 8 : 32;
  if (begin + size > frame.bytes.size()) return;
  const roce::Bytes ends = frame.bytes.subspan(begin, size);
  const u64 session = u64{told.erspan_type} << 48 | u64{told.session} << 32 | u64{tunnel.gre->id};
  if (sessions_ >= kMost) return;  // nobody mirrors so; a hostile file does
  Mirror& mirror = mirrors_[{frame.capture, Ends(ends.begin(), ends.end())}];
  mirror.together.note(told.sequence);
  const auto [at, is_new] = mirror.sessions.try_emplace(session);
  sessions_ += is_new;
  at->second.note(told.sequence);
}

std::optional<u64> MirrorSequences::missing(const Mirror& mirror) const {
  std::optional<u64> apart;
  for (const auto& [session, gaps] : mirror.sessions)
    if (const auto own = gaps.missing()) apart = apart.value_or(0) + *own;
  if (mirror.sessions.size() < 2) return apart;
  const std::optional<u64> together = mirror.together.missing();
  if (!together) return apart;
  return std::min(apart.value_or(*together), *together);
}

std::optional<u64> MirrorSequences::missing(std::size_t index) const {
  std::optional<u64> sum;
  if (sessions_ >= kMost) return sum;
  for (const auto& [key, mirror] : mirrors_) {
    if (key.first != index) continue;
    if (const auto own = missing(mirror)) sum = sum.value_or(0) + *own;
  }
  return sum;
}

}  // namespace rocetrace
