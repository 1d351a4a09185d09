// SPDX-License-Identifier: BSD-3-Clause
// The pcap format and its relatives (draft-ietf-opsawg-pcap), and what to do when a file of it is
// damaged: the format has no marks between records, so only a row of plausible record headers tells
// where packets are.

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "capture/endian.hpp"
#include "capture/record_reader.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kFileHeaderBytes = 24;
constexpr int kChainRecords = 8;  // so many plausible headers in a row are no accident
constexpr std::size_t kChainBytes = std::size_t{kChainRecords} * (kMaxCaptured + 28);
static_assert(2 * kChainBytes > kSearchBytes && kChainBytes < kSearchBytes);
constexpr u32 kNearSeconds = 12 * 3600;
constexpr u32 kDecade = 10 * 366 * 86400;

/// The fields that every variant's record begins with, each 4 bytes.
struct RecordHeader {
  u32 seconds;
  u32 fraction;
  u32 captured;
  u32 original;
};

struct Variant {
  u32 magic;
  bool nanosecond;
  u8 more_file_header;             // bytes after the usual ones
  std::array<u8, 3> header_sizes;  // of a record, bytes; the most likely first; 0 for none
};

// The same magic numbers were used for several record layouts: 24 bytes (interface, protocol and
// packet type after the usual four fields) and 28 in Kuznetzov's patched libpcap, 24 under the
// standard magic in its first version, 20 by one vendor. Wireshark tells them apart by trying, too.
constexpr Variant kVariants[] = {
    {0xa1b2c3d4, false, 0, {16, 24, 20}},
    {0xa1b23c4d, true, 0, {16, 0, 0}},
    {0xa1b2cd34, false, 0, {24, 28, 0}},
    {0x1c0001ab, false, 4, {16, 0, 0}},  // Ixia, captured in software and
    {0x1c0001ac, false, 4, {16, 0, 0}},  // in hardware: the length of all records follows
};

template <bool kSwap>
class PcapReader final : public RecordReader {
 public:
  PcapReader(ByteSource& source, CaptureInfo& info, u16 capture_index, const Variant& variant,
             const u8* file_header)
      : source_(source),
        info_(info),
        capture_index_(capture_index),
        fraction_ns_(variant.nanosecond ? 1 : 1000),
        fraction_limit_(variant.nanosecond ? 1000000000 : 1000000) {
    // Before version 2.4 the two lengths of a record could come in either order.
    lengths_swapped_ = load16<kSwap>(file_header + 4) == 2 && load16<kSwap>(file_header + 6) < 4;
    const u32 link = load32<kSwap>(file_header + 20);
    link_type_ = static_cast<u16>(link);
    const bool has_fcs_length = (link >> 26 & 1) != 0;
    note_interface(info, {.link_type = link_type_,
                          .fcs_bytes = static_cast<u8>(has_fcs_length ? link >> 28 << 1 : 0),
                          .snap_length = load32<kSwap>(file_header + 16),
                          .tick_ns = fraction_ns_});
    choose_header_size(variant);
  }

  bool next(FrameBatch& out) override {
    out.clear();
    while (out.empty() && !ended_) {
      const Window window = source_.window(at_, need_);
      if (searching_) {
        search(window);
      } else {
        walk(window, out);
      }
    }
    account(out, info_);
    return !out.empty();
  }

 private:
  RecordHeader header_at(const u8* record) const {
    RecordHeader h{load32<kSwap>(record), load32<kSwap>(record + 4), load32<kSwap>(record + 8),
                   load32<kSwap>(record + 12)};
    if (lengths_swapped_ && h.captured > h.original) std::swap(h.captured, h.original);
    return h;
  }

  // The check that every record passes through: cheap, and too strict now and then.
  static bool usual(const RecordHeader& h, u32 last_seconds) {
    return h.captured <= kMaxCaptured && h.original - h.captured <= kMaxCutOff &&
           h.seconds - last_seconds + kNearSeconds <= 2 * kNearSeconds;
  }

  // Whether a header can be one at all. All zeros are not: that is what a hole in a file reads as.
  static bool possible(const RecordHeader& h) {
    return h.captured <= kMaxCaptured && h.original <= kMaxCaptured + kMaxCutOff &&
           (h.seconds | h.fraction | h.captured | h.original) != 0;
  }

  // Whether a header looks right with nothing but its content to go by.
  bool convincing(const RecordHeader& h) const {
    return h.captured <= kMaxCaptured && h.captured > 0 && h.original - h.captured <= kMaxCutOff &&
           h.fraction < fraction_limit_ &&
           (!time_known_ || h.seconds - last_seconds_ + kDecade <= 2 * kDecade);
  }

  // Whether `bytes` begin with a row of possible records. At the end of the input fewer will do.
  bool continues(Bytes bytes, bool last, std::size_t header_size) const {
    for (int count = 0; count < kChainRecords; ++count) {
      if (bytes.size() < header_size) return last && (count > 0 || bytes.empty());
      const RecordHeader h = header_at(bytes.data());
      if (!possible(h)) return false;
      if (bytes.size() - header_size < h.captured) return last && (count > 0 || !time_known_);
      bytes = bytes.subspan(header_size + h.captured);
    }
    return true;
  }

  // How many records lie whole at the front of `bytes`, up to a chain of them.
  int whole_records(Bytes bytes, std::size_t header_size) const {
    int count = 0;
    for (; count < kChainRecords && bytes.size() >= header_size; ++count) {
      const RecordHeader h = header_at(bytes.data());
      if (bytes.size() - header_size < h.captured) break;
      bytes = bytes.subspan(header_size + h.captured);
    }
    return count;
  }

  // Whether packets take up again at the front of `bytes`. There is nothing else to go by here, so
  // the headers must look right, agree in time, and be many or lead exactly to the end.
  bool takes_up(Bytes bytes, bool last) const {
    u32 first_seconds = 0;
    for (int count = 0; count < kChainRecords; ++count) {
      if (bytes.empty()) return last && (count > 1 || (count == 1 && time_known_));
      if (bytes.size() < header_size_) return last && count > 2;
      const RecordHeader h = header_at(bytes.data());
      if (!convincing(h)) return false;
      if (count == 0) first_seconds = h.seconds;
      if (h.seconds - first_seconds + kNearSeconds > 2 * kNearSeconds) return false;
      if (bytes.size() - header_size_ < h.captured) return last && count > 2;
      bytes = bytes.subspan(header_size_ + h.captured);
    }
    return true;
  }

  void choose_header_size(const Variant& variant) {
    header_size_ = variant.header_sizes[0];
    at_ = kFileHeaderBytes + variant.more_file_header;
    const Window window = source_.window(at_, kChainBytes);
    // In a small file a wrong size may take a time for the length of a record that was cut at the
    // end: the right one shows by the whole records that it finds.
    int most = -1;
    for (const u8 candidate : variant.header_sizes) {
      if (candidate == 0 || !continues(window.bytes, window.last, candidate)) continue;
      const int whole = whole_records(window.bytes, candidate);
      if (whole > most) header_size_ = candidate;
      most = std::max(most, whole);
    }
    need_ = 2 * header_size_;
    if (window.bytes.size() < header_size_) return;
    const RecordHeader first = header_at(window.bytes.data());
    if (most < 0 && !convincing(first)) return;
    last_seconds_ = first.seconds;
    time_known_ = true;
  }

  // Hands out records until the batch is full, the window is used up, or something is wrong. A
  // record goes out only once the header after it was seen: that may prove its length wrong.
  void walk(const Window& window, FrameBatch& out) {
    const u8* const begin = window.bytes.data();
    const u8* const end = begin + window.bytes.size();
    const std::size_t next_header = window.last ? 0 : header_size_;
    const u8* at = begin;
    need_ = 2 * header_size_;
    for (;;) {
      at = walk_usual(at, end, out);
      const auto left = static_cast<std::size_t>(end - at);
      if (left < header_size_) {
        if (window.last) end_inside(left);
        break;
      }
      const RecordHeader h = header_at(at);
      if (!usual(h, last_seconds_)) {
        const bool in_view = window.last || left >= kChainBytes;
        if (!in_view || !continues({at, left}, window.last, header_size_)) {
          at = in_view ? recover(at, window, out) : step_back(at, out);
          if (searching_ || !in_view) break;
          continue;
        }
      }
      if (out.size() == kBatchFrames) break;
      const std::size_t size = header_size_ + h.captured;
      if (left < size + next_header) {
        if (window.last && take_part(at, h, window, out)) {
          at = out.back().bytes.data() + out.back().bytes.size();
          continue;
        }
        need_ = size + next_header;
        break;
      }
      emit(at, h, h.captured, out);
      at += size;
    }
    at_ += static_cast<u64>(at - begin);
  }

  // The same for records with nothing odd about them, which is where all the time goes: everything
  // it needs is kept in registers. Returns where it cannot go on.
  const u8* walk_usual(const u8* at, const u8* end, FrameBatch& out) {
    const std::size_t header_size = header_size_;
    const u64 fraction_ns = fraction_ns_;
    const u16 link_type = link_type_, capture_index = capture_index_;
    u32 seconds = last_seconds_;
    const std::size_t before = out.size();
    out.resize(kBatchFrames);
    Frame* frame = out.data() + before;
    Frame* const full = out.data() + kBatchFrames;
    for (; frame != full; ++frame) {
      const auto left = static_cast<std::size_t>(end - at);
      if (left < header_size) break;
      const RecordHeader h = header_at(at);
      const std::size_t size = header_size + h.captured;
      if (!usual(h, seconds) || left < size + header_size) break;
      prefetch_ahead(at, size);
      seconds = h.seconds;
      frame->time = u64{seconds} * 1000000000 + h.fraction * fraction_ns;
      frame->bytes = {at + header_size, h.captured};
      frame->wire_size = h.original;
      frame->link_type = link_type;
      frame->capture = capture_index;
      at += size;
    }
    out.resize(static_cast<std::size_t>(frame - out.data()));
    last_seconds_ = seconds;
    return at;
  }

  void emit(const u8* record, const RecordHeader& h, std::size_t captured, FrameBatch& out) {
    last_seconds_ = h.seconds;
    out.push_back({.time = u64{h.seconds} * 1000000000 + u64{h.fraction} * fraction_ns_,
                   .bytes = {record + header_size_, captured},
                   .wire_size = std::max(h.original, h.captured),
                   .link_type = link_type_,
                   .capture = capture_index_});
  }

  // There is too little in view to judge the header at `at`: looks again with more, and with the
  // record before it, whose length is in doubt too.
  const u8* step_back(const u8* at, FrameBatch& out) {
    need_ = kSearchBytes;
    if (out.empty()) return at;
    const std::size_t size = header_size_ + out.back().bytes.size();
    out.pop_back();
    need_ += size;
    return at - size;
  }

  // There is no header at `at`. Either the record before lies about its length, and packets take up
  // inside it; or they do so further on, or not at all.
  const u8* recover(const u8* at, const Window& window, FrameBatch& out) {
    const u8* const end = window.bytes.data() + window.bytes.size();
    const u64 offset = at_ + static_cast<u64>(at - window.bytes.data());
    time_known_ = time_known_ || !out.empty();
    if (!out.empty()) {
      Bytes& bytes = out.back().bytes;
      for (const u8* from = bytes.data(); from < at; ++from) {
        if (!takes_up({from, end}, window.last)) continue;
        bytes = {bytes.data(), from};
        note_damage(info_, offset_of(bytes, window) - header_size_, 0,
                    "a record is shorter than it says");
        return from;
      }
    }
    damage_start_ = offset;
    searching_ = true;
    need_ = kSearchBytes;
    return at + 1;
  }

  // The last record reaches beyond the file. If packets take up inside it, only its length is
  // wrong, and it goes out with what is its own; otherwise the file was cut.
  bool take_part(const u8* at, const RecordHeader& h, const Window& window, FrameBatch& out) {
    const u8* const end = window.bytes.data() + window.bytes.size();
    for (const u8* from = at + header_size_; from < end; ++from) {
      if (!takes_up({from, end}, true)) continue;
      emit(at, h, static_cast<std::size_t>(from - at) - header_size_, out);
      note_damage(info_, offset_of(out.back().bytes, window) - header_size_, 0,
                  "a record is shorter than it says");
      return true;
    }
    end_inside(static_cast<std::size_t>(end - at));
    return false;
  }

  // Where packets take up again after a damage.
  void search(const Window& window) {
    Bytes rest = window.bytes;
    while (rest.size() >= (window.last ? header_size_ : kChainBytes)) {
      if (takes_up(rest, window.last)) {
        searching_ = false;
        break;
      }
      rest = rest.subspan(1);
    }
    at_ += window.bytes.size() - rest.size();
    if (!searching_) {
      need_ = 2 * header_size_;
      note_damage(info_, damage_start_, at_ - damage_start_, "bytes that are not packets");
    } else if (window.last) {
      ended_ = true;
      note_damage(info_, damage_start_, at_ + rest.size() - damage_start_,
                  "bytes that are not packets, up to the end");
    }
  }

  void end_inside(std::size_t left) {
    ended_ = true;
    info_.cut_short = left > 0;
  }

  u64 offset_of(Bytes bytes, const Window& window) const {
    return at_ + static_cast<u64>(bytes.data() - window.bytes.data());
  }

  ByteSource& source_;
  CaptureInfo& info_;
  u16 capture_index_;
  u16 link_type_ = 0;
  u32 fraction_ns_;
  u32 fraction_limit_;
  bool lengths_swapped_ = false;
  bool time_known_ = false;  // last_seconds_ is that of a packet
  u32 last_seconds_ = 0;
  std::size_t header_size_ = 16;
  std::size_t need_ = 0;  // bytes to ask the window for
  u64 at_ = 0;            // offset of the next record, or of the search
  bool searching_ = false;
  u64 damage_start_ = 0;  // while searching
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<RecordReader> open_pcap(ByteSource& source, CaptureInfo& info, u16 capture_index) {
  const Bytes header = source.window(0, kFileHeaderBytes).bytes;
  if (header.size() < kFileHeaderBytes) return nullptr;
  for (const Variant& variant : kVariants) {
    if (load32<false>(header.data()) == variant.magic) {
      return std::make_unique<PcapReader<false>>(source, info, capture_index, variant,
                                                 header.data());
    }
    if (load32<true>(header.data()) == variant.magic) {
      return std::make_unique<PcapReader<true>>(source, info, capture_index, variant,
                                                header.data());
    }
  }
  return nullptr;
}

}  // namespace rocetrace
