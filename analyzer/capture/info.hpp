// SPDX-License-Identifier: BSD-3-Clause
// What a capture file says about itself, and what was met while it was read.
//
// Strings come from the file as they are: they may hold anything, and are for the reports to
// escape.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "roce/wire/bytes.hpp"

namespace rocetrace {

/// A place where the file does not follow its format.
struct Damage {
  roce::u64 offset = 0;   // in the (decompressed) file, bytes
  roce::u64 skipped = 0;  // bytes that could not be read as packets; 0 if nothing was lost
  std::string what;
};

/// What a file says about one of the interfaces that it was captured on.
struct InterfaceInfo {
  std::string name{};
  std::string description{};
  std::string hardware{};
  std::string filter{};       // the capture filter, as text
  roce::u16 link_type = 0;    // LINKTYPE_ number
  roce::u8 fcs_bytes = 0;     // length of the frame check sequence that frames end in, if told
  roce::u32 snap_length = 0;  // 0: no limit
  roce::u64 tick_ns = 1000;   // time resolution in nanoseconds; 0 if finer than that
  roce::u64 packets = 0;
  std::optional<roce::u64> dropped_by_interface{};  // pcapng isb_ifdrop
  std::optional<roce::u64> dropped_by_os{};         // pcapng isb_osdrop
  std::optional<roce::u64> dropped_by_packet{};     // pcapng: sum of the packets' own drop counts
  std::vector<std::string> comments{};
};

/// What one capture file says about itself, and what has been read of it so far.
struct CaptureInfo {
  std::string file;    // as the user named it
  std::string format;  // "pcap" or "pcapng", followed by "+gzip", "+zstd" or "+lz4"
  std::string hardware;
  std::string os;
  std::string application;
  std::vector<std::string> comments;      // on the file, its packets and its interfaces
  std::vector<roce::u16> link_types;      // each once, in order of appearance
  std::vector<InterfaceInfo> interfaces;  // Frame::interface counts these from 0
  bool nanosecond = false;                // every interface tells time in nanoseconds or finer
  roce::u64 packets = 0;                  //
  roce::u64 wire_bytes = 0;               // of the whole packets
  roce::u64 captured_bytes = 0;           // of what was kept of them
  roce::u64 truncated_packets = 0;        // of which less was kept than there was
  roce::u64 untimed_packets = 0;          // stored without a time: they get the one before
  std::optional<roce::u64> first_time;    // the earliest and the latest packet,
  std::optional<roce::u64> last_time;     // nanoseconds since the epoch
  roce::u64 current_time = 0;             // of the packet read last
  roce::u64 equal_times = 0;              // packets with the time of the one before
  roce::u64 backward_times = 0;           // packets with a time before that of the one before,
  roce::u64 largest_backward_ns = 0;      // and by how much at most
  std::string time_source;                // whose trailers gave the times; empty: the capture
  roce::i64 time_offset_ns = 0;           // of the first such time from the capture's own
  bool cut_short = false;                 // the file ends inside a record, or lost its end
  std::vector<Damage> damages;            // the first kMaxDamages of them
  roce::u64 damage_count = 0;             // all of them
  roce::u64 damaged_bytes = 0;            // skipped over all of them
  roce::u64 bytes_read = 0;               // of the file as stored, so far
  roce::u64 total_size = 0;               // of the file as stored; 0 if unknown (a pipe)
};

/// Bounds on what a hostile file can make us keep.
inline constexpr std::size_t kMaxDamages = 100;
inline constexpr std::size_t kMaxComments = 100;
inline constexpr std::size_t kMaxTextBytes = 1024;
inline constexpr std::size_t kMaxInterfaces = 16384;

/// Adds a damage to what is known of a capture.
void note_damage(CaptureInfo& info, roce::u64 offset, roce::u64 skipped, std::string what);

/// Adds a comment, as far as it is worth keeping.
void note_comment(std::vector<std::string>& comments, roce::Bytes text);

/// Adds an interface, and its link type if that is new.
void note_interface(CaptureInfo& info, InterfaceInfo interface);

/// The name of a LINKTYPE_ number for people, such as "Ethernet"; "link type N" if it has none.
std::string link_type_name(roce::u16 link_type);

}  // namespace rocetrace
