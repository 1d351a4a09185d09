// SPDX-License-Identifier: BSD-3-Clause
// What the analysis has to tell: kinds of findings as rows, and findings as values.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "findings/needs.hpp"
#include "roce/wire/bytes.hpp"

namespace rocetrace {

using roce::i64;
using roce::u16;
using roce::u32;
using roce::u64;
using roce::u8;

enum class Severity : u8 { info, warning, error };

/// Which of two findings of the same severity a reader needs first.
enum class Urgency : u8 {
  fact,     // a measurement
  setting,  // something is set in a way that may hurt
  slow,     // time is lost
  lossy,    // packets are lost
  broken,   // the path or a set-up fails
  dead      // a queue pair gave up
};

/// One kind of finding. All texts are sentences for the reader.
struct FindingKind {
  std::string_view id;      // loss.retransmission, ...
  Severity severity;        // the usual one; thresholds and circumstances may change it
  Urgency urgency;          //
  std::string_view title;   // a few words
  std::string_view means;   // what it usually means
  std::string_view judged;  // the rule
  std::string_view next;    // what to look at next
  Needs needs;              // what must have been captured; empty: nothing more
};

/// What a finding concerns. `first` and `second` are: the capture's index; a host's address id; two
/// of those; a half-flow's or a connection's id in the tracker.
struct Scope {
  enum class Of : u8 { capture, host, hosts, half_flow, connection } of = Of::capture;
  u32 first = 0;
  u32 second = 0;
};

/// Frames and times at which something was seen; nothing was when `count` is 0.
struct Sightings {
  u64 count = 0;
  u64 first_frame = 0, last_frame = 0;
  u64 first_time = 0, last_time = 0;  // nanoseconds

  void add(u64 frame, u64 time, u64 how_many = 1) {
    if (count == 0) first_frame = frame, first_time = time;
    if (count == 0 || frame >= last_frame) last_frame = frame, last_time = time;
    count += how_many;
  }
  void merge(const Sightings& other) {
    if (other.count == 0) return;
    const u64 sum = count + other.count;
    if (count == 0 || other.first_frame < first_frame)
      first_frame = other.first_frame, first_time = other.first_time;
    if (count == 0 || other.last_frame > last_frame)
      last_frame = other.last_frame, last_time = other.last_time;
    count = sum;
  }
};

using EvidenceValue = std::variant<u64, i64, double, bool, std::string>;
using Evidence = std::vector<std::pair<std::string, EvidenceValue>>;

struct Finding {
  const FindingKind* kind = nullptr;
  Severity severity = Severity::info;
  Scope scope;
  Sightings seen;  // `count` is what the finding counts
  Evidence evidence;
  std::string text;               // what was seen; kind->means and kind->next follow it
  std::vector<u32> half_flows{};  // that it concerns, the worst first; not all when there are many
  std::string subnets{};          // when it concerns all hosts of two subnets, these
};

/// Something that this trace cannot answer.
struct Unjudged {
  std::string_view id;  // of the kind
  std::string why;      // a sentence
};

/// A reason not to trust a capture fully.
struct Distrust {
  u32 capture = 0;     // index
  bool heavy = false;  // what it holds is not what was sent
  std::string why;     // a sentence
};

struct Findings {
  std::vector<Finding> found;
  std::vector<Unjudged> unjudged;
  std::vector<Distrust> distrust;
  bool unordered = false;  // sequence numbers mean nothing: capture.sampled, or two clocks in one
};

}  // namespace rocetrace
