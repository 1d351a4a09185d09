// SPDX-License-Identifier: BSD-3-Clause
// The pcapng format. Every block states its length at both ends, so a damaged one is recognised at
// once; every section may have its own byte order and counts its interfaces from 0.

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "capture/endian.hpp"
#include "capture/pcapng_blocks.hpp"
#include "capture/record_reader.hpp"
#include "capture/timestamp.hpp"

namespace rocetrace {
namespace {

using namespace pcapng;

constexpr int kChainBlocks = 4;             // so many plausible blocks in a row are no accident
constexpr std::size_t kEnhancedBytes = 32;  // of an enhanced packet block without its packet
constexpr std::size_t kSimpleBytes = 16;    // of a simple one

constexpr std::size_t padded(std::size_t size) {
  return (size + 3) / 4 * 4;
}

/// What the packets of a section need to know of one of its interfaces.
struct Interface {
  u32 index = 0;  // in CaptureInfo
  u16 link_type = 0;
  u32 snap_length = 0;
  Clock clock;
};

/// The byte order of a section: nothing if `block` does not begin one.
std::optional<bool> swapped_section(Bytes block) {
  if (block.size() < 12 || load32<false>(block.data()) != kSection) return std::nullopt;
  if (load32<false>(block.data() + 8) == kByteOrderMagic) return false;
  if (load32<true>(block.data() + 8) == kByteOrderMagic) return true;
  return std::nullopt;
}

class PcapngReader final : public RecordReader {
 public:
  PcapngReader(ByteSource& source, CaptureInfo& info, u16 capture_index, bool swap)
      : source_(source), info_(info), capture_index_(capture_index), swap_(swap) {}

  bool next(FrameBatch& out) override {
    out.clear();
    while (out.empty() && !ended_) {
      const Window window = source_.window(at_, need_);
      if (searching_) {
        search(window);
      } else if (swap_) {
        walk<true>(window, out);
      } else {
        walk<false>(window, out);
      }
    }
    account(out, info_);
    return !out.empty();
  }

 private:
  // A length that a block of this type can have.
  static bool possible(u32 type, u32 total) {
    const bool packet = type == kEnhancedPacket || type == kPacket || type == kSimplePacket;
    const std::size_t least = packet ? kSimpleBytes : kFrameBytes;
    return total >= least && total <= kMaxBlockBytes && total % 4 == 0;
  }

  // Hands out frames until the batch is full, the window is used up, the section ends, or something
  // is wrong.
  template <bool kSwap>
  void walk(const Window& window, FrameBatch& out) {
    const u8* const begin = window.bytes.data();
    const u8* const end = begin + window.bytes.size();
    const u8* at = begin;
    need_ = kFrameBytes;
    while (out.size() < kBatchFrames) {
      const auto left = static_cast<std::size_t>(end - at);
      if (left < kFrameBytes) {
        if (window.last) end_inside(left);
        break;
      }
      const u32 type = load32<kSwap>(at);
      if (type == kSection) {
        const std::optional<bool> swap = swapped_section({at, left});
        if (swap && *swap != kSwap) {
          swap_ = *swap;  // read on in the other byte order
          break;
        }
      }
      const u32 total = load32<kSwap>(at + 4);
      if (!possible(type, total)) {
        at = lose(at, window, false);
        break;
      }
      if (left < total) {
        if (window.last) {
          at = lose(at, window, true);
        } else {
          need_ = total;
        }
        break;
      }
      if (load32<kSwap>(at + total - 4) != total) {
        at = lose(at, window, false);
        break;
      }
      if (type == kEnhancedPacket && total >= kEnhancedBytes) [[likely]] {
        prefetch_ahead(at, total);
        enhanced_packet<kSwap>({at, total}, window, out);
      } else {
        other_block(type, {at, total}, window, out);
      }
      at += total;
    }
    at_ += static_cast<u64>(at - begin);
  }

  template <bool kSwap>
  void enhanced_packet(Bytes block, const Window& window, FrameBatch& out) {
    const u8* const at = block.data();
    const u64 ticks = u64{load32<kSwap>(at + 12)} << 32 | load32<kSwap>(at + 16);
    const u32 captured = load32<kSwap>(at + 20);
    const std::size_t room = block.size() - kEnhancedBytes;
    packet(load32<kSwap>(at + 8), ticks, captured, load32<kSwap>(at + 24),
           block.subspan(28, std::min<std::size_t>(captured, room)), window, out);
    if (captured > room) {
      note_damage(info_, offset_of(at, window), 0, "a packet is longer than its block");
    } else if (room > padded(captured)) {
      packet_options(block.subspan(28 + padded(captured)).first(room - padded(captured)),
                     load32<kSwap>(at + 8));
    }
  }

  void packet(u32 interface, u64 ticks, u32 captured, u32 original, Bytes bytes,
              const Window& window, FrameBatch& out) {
    if (interface >= interfaces_.size()) [[unlikely]] {
      note_damage(info_, offset_of(bytes.data(), window), bytes.size(),
                  "a packet of an interface that was not described");
      return;
    }
    const Interface& on = interfaces_[interface];
    if (original > captured && original - captured > kMaxCutOff) [[unlikely]] {
      note_damage(info_, offset_of(bytes.data(), window), 0, "a packet's length is absurd");
      original = captured;
    }
    last_time_ = on.clock.nanoseconds(ticks);
    // Field by field: a copied temporary costs a stall on every packet.
    Frame& frame = out.emplace_back();
    frame.time = last_time_;
    frame.bytes = bytes;
    frame.wire_size = std::max(original, static_cast<u32>(bytes.size()));
    frame.link_type = on.link_type;
    frame.capture = capture_index_;
    frame.interface = on.index;
  }

  void packet_options(Bytes options, u32 interface) {
    for_each_option(options, swap_, [&](u16 code, Bytes value) {
      if (code == kComment) note_comment(info_.comments, value);
      if (code == kDropCount && value.size() == 8 && interface < interfaces_.size()) {
        auto& dropped = info_.interfaces[interfaces_[interface].index].dropped_by_packet;
        dropped = dropped.value_or(0) + load64(value.data(), swap_);
      }
    });
  }

  void other_block(u32 type, Bytes block, const Window& window, FrameBatch& out) {
    const u8* const at = block.data();
    const auto body_size = block.size() - kFrameBytes;
    if (type == kSection) {
      begin_section(block.subspan(8, body_size));
    } else if (type == kInterface && body_size >= 8) {
      describe_interface(block.subspan(8, body_size), window);
    } else if (type == kSimplePacket) {
      simple_packet(block, window, out);
    } else if (type == kPacket && block.size() >= kEnhancedBytes) {
      const u64 ticks = u64{load32(at + 12, swap_)} << 32 | load32(at + 16, swap_);
      const u32 captured = load32(at + 20, swap_);
      const std::size_t room = block.size() - kEnhancedBytes;
      packet(load16(at + 8, swap_), ticks, captured, load32(at + 24, swap_),
             block.subspan(28, std::min<std::size_t>(captured, room)), window, out);
    } else if (type == kInterfaceStatistics && body_size >= 12) {
      statistics(block.subspan(8, body_size));
    }
    // Names, secrets and what others have put into the file tell nothing about packets.
  }

  // Has neither a time nor an interface: it gets the time before it, and is of the first one.
  void simple_packet(Bytes block, const Window& window, FrameBatch& out) {
    const u32 original = load32(block.data() + 8, swap_);
    const std::size_t before = out.size();
    std::size_t captured = std::min<std::size_t>(original, block.size() - kSimpleBytes);
    if (!interfaces_.empty() && interfaces_[0].snap_length != 0) {
      captured = std::min<std::size_t>(captured, interfaces_[0].snap_length);
    }
    const u64 time = last_time_;
    packet(0, 0, static_cast<u32>(captured), original, block.subspan(12, captured), window, out);
    if (out.size() == before) return;
    out.back().time = last_time_ = time;
    ++info_.untimed_packets;
  }

  void describe_interface(Bytes body, const Window& window) {
    InterfaceInfo told{.link_type = load16(body.data(), swap_),
                       .snap_length = load32(body.data() + 4, swap_)};
    u8 resolution = 6;
    i64 offset_seconds = 0;
    for_each_option(body.subspan(8), swap_, [&](u16 code, Bytes value) {
      if (code == kComment) note_comment(told.comments, value);
      if (code == kInterfaceName) told.name = text(value);
      if (code == kInterfaceDescription) told.description = text(value);
      if (code == kInterfaceHardware) told.hardware = text(value);
      if (code == kFilter && value.size() > 1 && value[0] == 0)
        told.filter = text(value.subspan(1));
      if (code == kFcsLength && value.size() == 1) told.fcs_bytes = value[0];
      if (code == kTimeResolution && value.size() == 1) resolution = value[0];
      if (code == kTimeOffset && value.size() == 8) {
        offset_seconds = static_cast<i64>(load64(value.data(), swap_));
      }
    });
    const Clock clock(resolution, offset_seconds);
    told.tick_ns = clock.tick_ns();
    if (info_.interfaces.size() >= kMaxInterfaces) {
      note_damage(info_, offset_of(body.data(), window), 0, "too many interfaces");
      return;
    }
    interfaces_.push_back(
        {static_cast<u32>(info_.interfaces.size()), told.link_type, told.snap_length, clock});
    note_interface(info_, std::move(told));
  }

  // Later statistics replace earlier ones: they are totals.
  void statistics(Bytes body) {
    const u32 interface = load32(body.data(), swap_);
    if (interface >= interfaces_.size()) return;
    InterfaceInfo& told = info_.interfaces[interfaces_[interface].index];
    for_each_option(body.subspan(12), swap_, [&](u16 code, Bytes value) {
      if (code == kComment) note_comment(info_.comments, value);
      if (value.size() != 8) return;
      if (code == kDroppedByInterface) told.dropped_by_interface = load64(value.data(), swap_);
      if (code == kDroppedByOs) told.dropped_by_os = load64(value.data(), swap_);
    });
  }

  void begin_section(Bytes body) {
    interfaces_.clear();
    if (body.size() < 16) return;
    for_each_option(body.subspan(16), swap_, [&](u16 code, Bytes value) {
      if (code == kComment) note_comment(info_.comments, value);
      if (code == kHardware) info_.hardware = text(value);
      if (code == kOs) info_.os = text(value);
      if (code == kApplication) info_.application = text(value);
    });
  }

  // There is no sound block at `at`: goes looking for one behind it. `at_end`: it may just be cut.
  const u8* lose(const u8* at, const Window& window, bool at_end) {
    damage_start_ = offset_of(at, window);
    perhaps_cut_ = at_end;
    searching_ = true;
    need_ = 2 * kSearchBytes;
    return at + 1;
  }

  // Where blocks take up again after a damage. Only so much of the window is looked at for each
  // place that the outcome does not depend on how large the window happens to be.
  void search(const Window& window) {
    Bytes rest = window.bytes;
    while (rest.size() >= (window.last ? kFrameBytes : kSearchBytes)) {
      const bool all = window.last && rest.size() <= kSearchBytes;
      if (takes_up(rest.first(std::min(rest.size(), kSearchBytes)), all)) {
        searching_ = false;
        break;
      }
      rest = rest.subspan(1);
    }
    at_ += window.bytes.size() - rest.size();
    if (!searching_) {
      need_ = kFrameBytes;
      note_damage(info_, damage_start_, at_ - damage_start_, "bytes that are not pcapng blocks");
    } else if (window.last) {
      ended_ = true;
      info_.cut_short = perhaps_cut_;
      if (perhaps_cut_) return;
      note_damage(info_, damage_start_, at_ + rest.size() - damage_start_,
                  "bytes that are not pcapng blocks, up to the end");
    }
  }

  // Whether `bytes` begin with a row of sound blocks of known types. At the end of the input, one
  // that leads exactly there will do.
  bool takes_up(Bytes bytes, bool last) const {
    bool swap = swap_;
    for (int count = 0; count < kChainBlocks; ++count) {
      if (bytes.empty()) return last && count > 0;
      if (bytes.size() < kFrameBytes) return count > 1;
      const u32 type = load32(bytes.data(), swap);
      if (type == kSection) {
        const std::optional<bool> order = swapped_section(bytes);
        if (!order) return false;
        swap = *order;
      } else if (type == 0 ||
                 (type > kLastSmallType && type != kCustom && type != kCustomNotCopied)) {
        return false;
      }
      const u32 total = load32(bytes.data() + 4, swap);
      if (!possible(type, total)) return false;
      if (bytes.size() < total) return count > 1;
      if (load32(bytes.data() + total - 4, swap) != total) return false;
      bytes = bytes.subspan(total);
    }
    return true;
  }

  void end_inside(std::size_t left) {
    ended_ = true;
    info_.cut_short = left > 0;
  }

  u64 offset_of(const u8* at, const Window& window) const {
    return at_ + static_cast<u64>(at - window.bytes.data());
  }

  ByteSource& source_;
  CaptureInfo& info_;
  u16 capture_index_;
  bool swap_;                          // the section's byte order is not ours
  std::vector<Interface> interfaces_;  // of the section
  std::size_t need_ = kFrameBytes;     // bytes to ask the window for
  u64 at_ = 0;                         // offset of the next block, or of the search
  u64 last_time_ = 0;
  bool searching_ = false;
  bool perhaps_cut_ = false;  // while searching: the block before it reaches beyond the file
  u64 damage_start_ = 0;      // while searching
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<RecordReader> open_pcapng(ByteSource& source, CaptureInfo& info,
                                          u16 capture_index) {
  const std::optional<bool> swap = swapped_section(source.window(0, kFrameBytes).bytes);
  if (!swap) return nullptr;
  return std::make_unique<PcapngReader>(source, info, capture_index, *swap);
}

}  // namespace rocetrace
