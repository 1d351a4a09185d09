// SPDX-License-Identifier: BSD-3-Clause
// The names that rotating programs give: dumpcap and editcap NAME_00001_20260101120000.pcapng (or
// the two numbers the other way round), tcpdump -C NAME.pcap, NAME.pcap1, ..., tcpdump -G a date.

#include "capture/rotation.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rocetrace {
namespace {

using roce::u64;

constexpr u64 kLongHole = 60'000'000'000;  // nanoseconds; shorter ones are common
constexpr std::size_t kFewFiles = 4;       // of uncertain names: fewer are not known to be a ring

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What a name says: which ring, and which file of it.
struct RingName {
  std::string family;
  u64 number = 0;
  bool certain = false;
  bool wraps = false;  // after the last file the first is written again
};

struct Digits {
  std::size_t begin = 0, size = 0;
  std::size_t end() const { return begin + size; }
};

/// The digits that `text` holds right in front of `end`.
Digits digits_before(std::string_view text, std::size_t end) {
  std::size_t begin = end;
  while (begin > 0 && is_digit(text[begin - 1])) --begin;
  return {begin, end - begin};
}

std::optional<u64> number_in(std::string_view text, Digits digits) {
  if (digits.size == 0 || digits.size > 18) return std::nullopt;
  u64 number = 0;
  for (const char digit : text.substr(digits.begin, digits.size))
    number = number * 10 + static_cast<u64>(digit - '0');
  return number;
}

bool ends_in(std::string_view text, std::initializer_list<std::string_view> endings) {
  return std::ranges::any_of(endings, [&](auto ending) { return text.ends_with(ending); });
}
bool has_extension(std::string_view name) {
  return ends_in(name, {".pcap", ".pcapng", ".cap", ".dmp"});
}

/// Of NAME_00001_20260101120000, and the other way round.
std::optional<RingName> numbered_and_dated(std::string_view name, std::size_t stem) {
  const Digits last = digits_before(name, stem);
  if (last.size == 0 || last.begin == 0 || name[last.begin - 1] != '_') return std::nullopt;
  const Digits first = digits_before(name, last.begin - 1);
  const bool date_last = first.size >= 5 && first.size < 14 && last.size == 14;
  const bool date_first = first.size == 14 && last.size >= 5 && last.size < 14;
  if (!date_last && !date_first) return std::nullopt;
  const std::optional<u64> number = number_in(name, date_last ? first : last);
  return RingName{std::string(name.substr(0, first.begin)) + "#" + std::string(name.substr(stem)),
                  *number, true, false};
}

/// Of NAME_001 or NAME-20260101-120000: other things than rings are named so, too.
std::optional<RingName> numbered(std::string_view name, std::size_t stem) {
  const Digits last = digits_before(name, stem);
  std::optional<u64> number = number_in(name, last);
  if (!number || last.size < 3) return std::nullopt;
  std::size_t begin = last.begin;
  if (last.size == 6 && begin > 0) {  // a time of day, behind its date
    const Digits date = digits_before(name, begin - 1);
    if (date.size == 8) number = *number_in(name, date) * 1'000'000 + *number, begin = date.begin;
  }
  return RingName{std::string(name.substr(0, begin)) + "#" + std::string(name.substr(stem)),
                  *number, false, true};
}

RingName ring_name(std::string_view name) {
  for (const std::string_view packed : {".gz", ".zst", ".lz4"})
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  const Digits behind = digits_before(name, name.size());
  if (!has_extension(name.substr(0, behind.begin))) return {};
  if (behind.size == 0) {
    const std::size_t stem = name.rfind('.');
    if (auto ring = numbered_and_dated(name, stem)) return *ring;
    if (auto ring = numbered(name, stem)) return *ring;
  }
  // NAME.pcap is alone in its family, unless there is a NAME.pcap1.
  return {std::string(name.substr(0, behind.begin)), number_in(name, behind).value_or(0), true,
          true};
}

struct File {
  std::size_t capture = 0;
  const CaptureInfo* info = nullptr;
  u64 number = 0;

  u64 begin() const { return *info->first_time; }
  u64 end() const { return *info->last_time; }
};

struct Ring {
  std::vector<File> files{};
  bool certain = false, wraps = false;
};

/// Files of one capture also have the same interfaces.
std::string origin_of(const CaptureInfo& info) {
  std::string origin;
  for (const InterfaceInfo& interface : info.interfaces)
    origin += '\n' + std::to_string(interface.link_type) + ' ' + interface.name;
  return origin;
}

std::map<std::string, Ring> rings_of(std::span<const CaptureInfo* const> captures) {
  std::map<std::string, Ring> rings;
  for (std::size_t i = 0; i < captures.size(); i++) {
    const CaptureInfo& info = *captures[i];
    const RingName name = ring_name(info.file);
    if (name.family.empty() || !info.first_time) continue;
    Ring& ring = rings[name.family + origin_of(info)];
    ring.files.push_back({i, &info, name.number});
    ring.certain = name.certain;
    ring.wraps = name.wraps;
  }
  for (auto& [name, ring] : rings) std::ranges::sort(ring.files, {}, &File::number);
  std::erase_if(rings, [](const auto& one) {
    const Ring& ring = one.second;
    // The same number twice: files of several captures, and whose is whose cannot be told.
    return ring.files.size() < (ring.certain ? 2 : kFewFiles) ||
           std::ranges::adjacent_find(ring.files, {}, &File::number) != ring.files.end();
  });
  return rings;
}

u64 overlap(const File& front, const File& file) {
  return front.end() > file.begin() + kMeeting ? front.end() - file.begin() : 0;
}
u64 hole(const File& front, const File& file) {
  return file.begin() > front.end() ? file.begin() - front.end() : 0;
}

/// Where a ring was written round and round, its oldest file stands behind its newest.
void begin_with_the_oldest(std::vector<File>& files) {
  if (overlap(files.back(), files.front()) > 0) return;
  std::size_t oldest = 0;
  u64 largest = 0;
  for (std::size_t i = 1; i < files.size(); i++) {
    const u64 back = overlap(files[i - 1], files[i]);
    if (back > largest) oldest = i, largest = back;
  }
  std::rotate(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(oldest), files.end());
}

/// A hole of that length says something: there is no other like it, and no file is nearly as long.
u64 remarkable_hole(const std::vector<File>& files) {
  std::vector<u64> lengths;
  for (std::size_t i = 0; i < files.size(); i++) {
    lengths.push_back(files[i].end() - files[i].begin());
    if (i > 0) lengths.push_back(hole(files[i - 1], files[i]));
  }
  std::ranges::sort(lengths, std::ranges::greater());
  return std::max(kLongHole, 10 * lengths[1]);
}

std::vector<RotationFault> faults_of(Ring& ring) {
  std::vector<File>& files = ring.files;
  if (ring.wraps) begin_with_the_oldest(files);
  const u64 long_hole = remarkable_hole(files);
  std::vector<RotationFault> faults;
  std::size_t overlaps = 0;
  for (std::size_t i = 1; i < files.size(); i++) {
    const File& front = files[i - 1];
    RotationFault fault{.capture = files[i].capture, .in_front = front.capture};
    fault.certain = ring.certain;
    fault.overlap_ns = overlap(front, files[i]);
    if (ring.certain && hole(front, files[i]) > long_hole) fault.hole_ns = hole(front, files[i]);
    if (ring.certain && !ring.wraps) fault.missing = files[i].number - front.number - 1;
    overlaps += fault.overlap_ns > 0;
    if (fault.overlap_ns + fault.hole_ns + fault.missing > 0) faults.push_back(fault);
  }
  // Files of which most overlap are no ring, whatever their names.
  if (!ring.certain && 3 * overlaps > files.size() - 1) faults.clear();
  return faults;
}

}  // namespace

std::vector<RotationFault> rotation_faults(std::span<const CaptureInfo* const> captures) {
  std::vector<RotationFault> all;
  for (auto& [name, ring] : rings_of(captures))
    for (const RotationFault& fault : faults_of(ring)) all.push_back(fault);
  std::ranges::sort(all, {}, &RotationFault::capture);
  return all;
}

}  // namespace rocetrace
