// SPDX-License-Identifier: BSD-3-Clause
#include "taps.hpp"

#include <algorithm>
#include <bitset>
#include <filesystem>

#include "roce/flow/traits.hpp"
#include "roce/net/observe.hpp"
#include "selection.hpp"

namespace rocetrace {

using roce::i64;
using roce::u16;
using roce::u32;
using roce::u64;
using roce::u8;
using roce::flow::Observation;

namespace {

constexpr u64 kMillisecond = 1'000'000;
constexpr u64 kFirstLook = 65'536;          // packets, when there is one tap only
constexpr u64 kLook = 1'048'576;            // packets, when there are several
constexpr u64 kFewRepeats = 16;             // in one tap, prove nothing
constexpr u64 kFewTwins = 4;                // prove nothing
constexpr std::size_t kMostPast = 1 << 21;  // packets remembered
constexpr std::size_t kMostPairs = 65'536;  // of hosts
constexpr std::size_t kMostTaps = 32;       // of a pair of hosts
constexpr std::size_t kMostOffsets = 4096;  // samples of the distance of two clocks

bool is_file(const std::string& name) {
  std::error_code error;
  return name != "-" && std::filesystem::is_regular_file(name, error);
}

u64 pair_of(const Observation& packet) {
  const auto [low, high] = std::minmax(packet.source, packet.destination);
  return u64{low} << 32 | high;
}

u64 mixed(u64 hash, u64 value) {
  hash = (hash ^ value) * 0x9e37'79b9'7f4a'7c15u;
  return hash ^ hash >> 29;
}

// The same for one packet wherever it was captured, whatever was kept of it.
u64 identity_of(const Observation& packet) {
  u64 hash =
      mixed(u64{packet.source} << 32 | packet.destination, u64{packet.dest_qp} << 32 | packet.psn);
  hash = mixed(hash, u64{packet.opcode} << 32 | packet.payload_size);
  hash = mixed(hash, u64{packet.aeth} << 32 | packet.dma_length);
  return mixed(hash, packet.has(roce::flow::kHasIpId) ? packet.ip_id : 0x1'0000u);
}

i64 median(std::vector<i64> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

/// What a look at the packets showed.
struct Taps::Survey {
  using PerKind = std::array<u64, 2>;  // requests, responses
  struct Seen {                        // of a pair of hosts, at one tap
    Tap tap;
    PerKind packets{};
    u64 first_time = 0, last_time = 0;
    std::vector<std::pair<Tap, PerKind>> twins{};  // packets that another tap showed just before

    u64 all() const { return packets[0] + packets[1]; }
  };
  struct Twice {  // within one tap
    u64 packets = 0, ids = 0, oftener = 0;
    std::array<u64, 2> of_kind{};             // requests, responses
    std::array<std::vector<i64>, 2> apart{};  // nanoseconds, of those captured twice
    std::bitset<65'536> seen_ids;
  };

  void note(const Observation& packet, Tap tap) {
    if (packet.has(roce::flow::kUndecoded)) return;
    const roce::flow::OpcodeTraits traits = roce::flow::kTraits[packet.opcode];
    if (!traits.is(roce::flow::kRequest) && !traits.is(roce::flow::kResponse)) return;
    packets++;
    Seen* seen = find(pair_of(packet), tap);
    if (!seen) return;
    const bool response = traits.is(roce::flow::kResponse);
    if (seen->all() == 0) seen->first_time = packet.time;
    seen->last_time = std::max(seen->last_time, packet.time);
    seen->packets[response]++;
    per_tap[tap]++;
    if (4 * packets > past.size() && past.size() < kMostPast) grow();
    const u64 identity = identity_of(packet);
    Past& before = past[identity & (past.size() - 1)];
    const bool known = before.identity == identity && before.time != 0;
    if (known && before.tap != tap) note_twin(*seen, packet, response, before.tap, before.time);
    if (per_tap.size() == 1) {
      note_twice(packet, response, known ? before.time : 0);
      twice.oftener += known && before.repeated;
    }
    before = {identity, packet.time, tap, known};
  }

  void note_twin(Seen& seen, const Observation& packet, bool response, Tap other, u64 time) {
    twins++;
    auto at = std::ranges::find(seen.twins, other, &std::pair<Tap, PerKind>::first);
    if (at == seen.twins.end()) at = seen.twins.insert(at, {other, PerKind{}});
    at->second[response]++;
    std::vector<i64>& samples = offsets[{seen.tap, other}];
    if (samples.size() < kMostOffsets) samples.push_back(static_cast<i64>(packet.time - time));
  }

  void note_twice(const Observation& packet, bool response, u64 before) {
    twice.packets++;
    twice.of_kind[response]++;
    if (packet.has(roce::flow::kHasIpId) && !twice.seen_ids.test(packet.ip_id)) {
      twice.seen_ids.set(packet.ip_id);
      twice.ids++;
    }
    if (before != 0 && packet.time > before + kMillisecond &&
        twice.apart[response].size() < kFirstLook)
      twice.apart[response].push_back(static_cast<i64>(packet.time - before));
  }

  Seen* find(u64 pair, Tap tap) {
    if (pairs.size() >= kMostPairs && !pairs.contains(pair)) return nullptr;
    std::vector<Seen>& taps = pairs[pair];
    const auto at = std::ranges::find(taps, tap, &Seen::tap);
    if (at != taps.end()) return &*at;
    if (taps.size() >= kMostTaps) return nullptr;
    return &taps.emplace_back(Seen{.tap = tap});
  }

  void grow() {
    std::vector<Past> larger(2 * past.size());
    for (const Past& one : past)
      if (one.time != 0) larger[one.identity & (larger.size() - 1)] = one;
    past = std::move(larger);
  }

  bool is_enough() const {
    if (per_tap.size() < 2) return packets >= kFirstLook;
    return packets >= kLook && twins * 10 < packets;
  }

  /// One tap that shows a good part of all packets a second time, of requests and of responses, and
  /// about as much later. A resend has an IP identification of its own, where these are counted;
  /// elsewhere it looks the same as its original, so more have to be there twice.
  std::optional<u64> distance_of_mixed() const {
    if (per_tap.size() != 1) return std::nullopt;
    const bool counted = twice.ids >= std::min<u64>(twice.packets / 4, 8192);
    const double least = counted ? 0.2 : 0.3;  // a half, if nothing got lost
    // What is repeated on and on, for want of an answer or a receive buffer, is no second capture.
    if (!counted && twice.oftener * 2 > twice.packets) return std::nullopt;
    std::vector<i64> all = twice.apart[0];
    all.insert(all.end(), twice.apart[1].begin(), twice.apart[1].end());
    if (all.size() < kFewRepeats) return std::nullopt;
    const i64 usual = median(all);
    const i64 spread = std::max<i64>(kMillisecond, usual / 2);  // clocks of hosts wander
    for (const bool response : {false, true}) {
      const auto alike = std::ranges::count_if(
          twice.apart[response], [&](i64 apart) { return std::abs(apart - usual) <= spread; });
      if (static_cast<double>(alike) < least * static_cast<double>(twice.of_kind[response]))
        return std::nullopt;
    }
    return static_cast<u64>(usual);
  }

  /// Whether `one` shows the packets of `other`, and not resends of them in the next file of a
  /// ring: a third of its requests and of its responses, when both went on at the same time; with
  /// clocks further apart than that, nearly all.
  static bool shows_the_same(const Seen& one, const Seen& other) {
    PerKind both{};
    for (const auto& [tap, count] : one.twins)
      for (std::size_t kind = 0; kind < 2; kind++) both[kind] += tap == other.tap ? count[kind] : 0;
    for (const auto& [tap, count] : other.twins)
      for (std::size_t kind = 0; kind < 2; kind++) both[kind] += tap == one.tap ? count[kind] : 0;
    const u64 begin = std::max(one.first_time, other.first_time);
    const u64 end = std::min(one.last_time, other.last_time);
    const u64 shorter =
        std::min(one.last_time - one.first_time, other.last_time - other.first_time);
    const bool together = begin < end && 16 * (end - begin) >= shorter;
    for (std::size_t kind = 0; kind < 2; kind++) {
      const u64 packets = std::min(one.packets[kind], other.packets[kind]);
      if (together ? 3 * both[kind] < packets : 10 * both[kind] < 9 * packets) return false;
    }
    return both[0] + both[1] > 0;
  }

  /// How far the clock of `tap` is ahead of that of `other`.
  i64 offset(Tap tap, Tap other) const {
    std::vector<i64> samples;
    if (const auto at = offsets.find({tap, other}); at != offsets.end()) samples = at->second;
    if (const auto at = offsets.find({other, tap}); at != offsets.end())
      for (const i64 sample : at->second) samples.push_back(-sample);
    return samples.empty() ? 0 : median(std::move(samples));
  }

  struct Past {
    u64 identity = 0, time = 0;
    Tap tap{};
    bool repeated = false;  // seen before it
  };
  std::vector<Past> past = std::vector<Past>(1 << 14);  // by identity, the latest; a power of two
  std::unordered_map<u64, std::vector<Seen>> pairs;
  std::map<Tap, u64> per_tap;  // packets
  std::map<std::pair<Tap, Tap>, std::vector<i64>> offsets;
  Twice twice;
  u64 packets = 0, twins = 0;
};

Taps::Taps(const Options& options) {
  if (!std::ranges::all_of(options.captures, is_file)) {
    meanwhile_ = std::make_unique<Survey>();
    return;
  }
  SelectedTrace trace(options);
  Survey survey;
  roce::net::AddressTable addresses;
  FrameBatch batch;
  while (trace.next(batch) && !survey.is_enough()) {
    for (const Frame& frame : batch) {
      Observation packet;
      roce::net::Located located;
      if (roce::net::observe_frame(frame.bytes, frame.wire_size, frame.link_type, addresses, packet,
                                   located) != roce::net::Sighting::roce)
        continue;
      packet.time = frame.time;
      survey.note(packet, {frame.capture, frame.interface});
    }
  }
  conclude(survey);
}

Taps::Taps(Taps&&) noexcept = default;
Taps::~Taps() = default;

void Taps::conclude(const Survey& survey) {
  mixed_ns_ = survey.distance_of_mixed();
  if (survey.twins >= kFewTwins) decide(survey);
}

void Taps::finish() {
  if (!meanwhile_) return;
  conclude(*meanwhile_);
  meanwhile_.reset();
  // Too late to leave the copies out: they were taken for packets of their own.
  if (!copies_.empty()) mixed_ns_ = static_cast<u64>(std::abs(copies_.front().behind_ns));
  copies_.clear();
  pairs_.clear();
}

void Taps::decide(const Survey& survey) {
  const Tap widest = std::ranges::max_element(survey.per_tap, {}, [](const auto& one) {
                       return one.second;
                     })->first;
  for (const auto& [pair, seen] : survey.pairs) {
    if (seen.size() < 2) continue;
    std::vector<const Survey::Seen*> order;
    for (const Survey::Seen& one : seen) order.push_back(&one);
    // The tap that saw most of the trace goes first, unless another saw more of this pair.
    const auto weight = [&](const Survey::Seen* one) {
      return one->tap == widest ? one->all() + one->all() / 15 : one->all();
    };
    std::ranges::stable_sort(order, std::ranges::greater(), weight);
    std::vector<const Survey::Seen*> kept;
    for (const Survey::Seen* one : order) {
      const auto shown = std::ranges::find_if(
          kept, [&](const Survey::Seen* other) { return Survey::shows_the_same(*one, *other); });
      if (shown == kept.end()) {
        kept.push_back(one);
      } else {
        const Tap other = (*shown)->tap;
        pairs_[pair].left_out.emplace_back(
            one->tap, copies_of(one->tap, other, survey.offset(one->tap, other)));
      }
    }
  }
}

std::size_t Taps::copies_of(Tap tap, Tap kept, i64 behind_ns) {
  const auto at = std::ranges::find_if(
      copies_, [&](const Copies& one) { return one.tap == tap && one.kept == kept; });
  if (at != copies_.end()) return static_cast<std::size_t>(at - copies_.begin());
  copies_.push_back({tap, kept, 0, behind_ns});
  return copies_.size() - 1;
}

void Taps::mark(const FrameBatch& batch, std::span<Observation> packets) {
  if (pairs_.empty() && !meanwhile_) return;
  auto frame = batch.begin();
  for (Observation& packet : packets) {
    while (frame->number < packet.frame) ++frame;
    if (meanwhile_) {
      if (!meanwhile_->is_enough()) meanwhile_->note(packet, {frame->capture, frame->interface});
      continue;
    }
    const auto pair = pairs_.find(pair_of(packet));
    if (pair == pairs_.end()) continue;
    const Tap tap{frame->capture, frame->interface};
    for (const auto& [left_out, index] : pair->second.left_out) {
      if (left_out != tap) continue;
      packet.flags |= roce::flow::kCopy;
      copies_[index].packets++;
    }
  }
}

}  // namespace rocetrace
