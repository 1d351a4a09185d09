// SPDX-License-Identifier: BSD-3-Clause
// The evidence: a capture of the frames that show each finding, with a few before and after them
// from the same connection, and comments that say what each one is.
//
// Frames are kept until the end, since what comes before an event is only wanted once the event is
// there; their size is bounded.

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "capture/pcapng_writer.hpp"
#include "report/event.hpp"
#include "report/formats.hpp"
#include "report/lookup.hpp"
#include "report/output.hpp"
#include "report/text_value.hpp"
#include "report/topics.hpp"
#include "roce/syndrome.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kMostTopics = 128;
constexpr std::size_t kFlowsPerTopic = 16;
constexpr std::size_t kEventsPerTopic = 100;
constexpr std::size_t kContext = 4;  // frames of a connection before and after an event
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

/// A frame with its own bytes.
struct Kept {
  Frame frame;
  std::vector<roce::u8> bytes;
  std::string comment;
};

/// A topic and what has been taken for it.
struct Chapter {
  Topic topic;
  std::size_t events = 0;
  std::size_t bytes = 0;
};

/// What is followed of a half-flow: the chapters that it belongs to, and the frames around events.
struct Followed {
  std::vector<u32> chapters;
  std::string name;                          // "half-flow 5: 10.0.0.1 -> 10.0.0.2 QP 0x11"
  std::shared_ptr<std::deque<Kept>> before;  // shared with the partner, in the order of the trace
  std::shared_ptr<std::size_t> after;        // frames still to be taken behind an event
};

std::string class_text(const Moment& moment) {
  using namespace roce::flow;
  const Observation& packet = *moment.packet;
  std::string text;
  const auto add = [&](std::string_view more) {
    if (!text.empty()) text += ", ";
    text += more;
  };
  if (moment.arrival.stream == StreamKind::cnp) add("CNP");
  if (packet.has(kHasAeth)) {
    const roce::Syndrome syndrome(packet.syndrome());
    if (syndrome.is_rnr_nak())
      add(fmt::format("RNR NAK: wait {} us", syndrome.rnr_timer_ns() / 1000));
    if (syndrome.is_nak()) add(fmt::format("NAK: {}", roce::nak_text(syndrome.nak_code())));
  }
  const PacketClass of = moment.arrival.packet_class;
  if (of != PacketClass::none && of != PacketClass::in_order)
    add(fmt::format("class {}", name(of)));
  if (moment.arrival.missing > 0) add(fmt::format("{} PSNs missing", moment.arrival.missing));
  if (moment.arrival.repeated_response) add("repeated response");
  if (packet.has(kIcrcBad)) add("wrong ICRC");
  if (packet.ecn() == 3) add("CE");
  if (const SettledEpisode* episode = moment.episode) {
    if (episode->cause != Cause::none) add(fmt::format("cause {}", name(episode->cause)));
    if (episode->place != Place::none) add(fmt::format("place {}", name(episode->place)));
    add(fmt::format("sender restarts at PSN {}, {} packets", episode->restart_psn,
                    episode->packets));
  }
  return text;
}

class ExcerptOutput : public Output {
 public:
  ExcerptOutput(const Report& report, const std::string& path) : writer_{path} {
    for (Topic& topic : topics(report, kMostTopics, kFlowsPerTopic))
      chapters_.push_back({.topic = std::move(topic)});
    bytes_per_chapter_ = kMostBytes / std::max<std::size_t>(1, chapters_.size());
    for (u32 i = 0; i < chapters_.size(); ++i)
      for (const u64 id : chapters_[i].topic.half_flows) followed_[id].chapters.push_back(i);
    name_followed(report);
    for (const Chapter& chapter : chapters_) {
      ends_.insert(chapter.topic.first_frame);
      ends_.insert(chapter.topic.last_frame);
    }
  }

  void on_moment(const Moment& moment) override {
    const u64 number = moment.frame.number;
    remember(moment);
    const auto followed = moment.packet ? followed_.find(moment.arrival.flow) : followed_.end();
    const bool is_followed = followed != followed_.end();
    std::vector<u32> shows;
    if (is_followed && is_noteworthy(moment))
      for (const u32 i : followed->second.chapters)
        if (in_range(chapters_[i].topic, number) && has_room(chapters_[i])) shows.push_back(i);
    if (ends_.contains(number))
      for (u32 i = 0; i < chapters_.size(); ++i)
        if (is_end(i, number) && std::ranges::count(shows, i) == 0) shows.push_back(i);

    if (!shows.empty()) {
      take_event(moment, shows, is_followed ? &followed->second : nullptr);
    } else if (is_followed && *followed->second.after > 0) {
      --*followed->second.after;
      keep(copy(moment, context(moment)), nullptr);
    } else if (is_followed) {
      std::deque<Kept>& before = *followed->second.before;
      if (before.size() == kContext) before.pop_front();
      before.push_back(copy(moment, context(moment)));
    }
  }

  void finish() override {
    std::ranges::sort(kept_, {}, [](const Kept& kept) { return kept.frame.number; });
    for (Kept& kept : kept_) {
      kept.frame.bytes = kept.bytes;
      writer_.write(kept.frame, captures_.at(kept.frame.capture), kept.comment);
    }
    writer_.finish();
  }

 private:
  void name_followed(const Report& report) {
    std::vector<u64> ids;
    for (const auto& [id, flow] : followed_) ids.push_back(id);
    const std::map<u64, ConnectionRow> connections = connections_of(report, ids);
    for (auto& [id, flow] : followed_) {
      if (const auto row = half_flow(report, id))
        flow.name = fmt::format("half-flow {}: {} -> {} QP {:#x}", id, row->source,
                                row->destination, row->dest_qp);
      const auto at = connections.find(id);
      const auto partner = at != connections.end() ? partner_in(at->second, id) : std::nullopt;
      const auto other = partner ? followed_.find(*partner) : followed_.end();
      if (other != followed_.end() && other->second.before) {
        flow.before = other->second.before;
        flow.after = other->second.after;
      } else {
        flow.before = std::make_shared<std::deque<Kept>>();
        flow.after = std::make_shared<std::size_t>(0);
      }
    }
  }

  static bool in_range(const Topic& topic, u64 number) {
    return topic.first_frame == 0 || (number >= topic.first_frame && number <= topic.last_frame);
  }
  bool has_room(const Chapter& chapter) const {
    return chapter.events < kEventsPerTopic && chapter.bytes < bytes_per_chapter_;
  }
  // A topic's first and last frame are shown in any case.
  bool is_end(u32 chapter, u64 number) const {
    const Topic& topic = chapters_[chapter].topic;
    return number != 0 && (number == topic.first_frame || number == topic.last_frame);
  }

  // What the writer needs to know of the file that a frame is from.
  void remember(const Moment& moment) {
    CaptureInfo& known = captures_[moment.frame.capture];
    if (known.interfaces.size() != moment.capture.interfaces.size()) known = moment.capture;
  }

  static std::string context(const Moment& moment) {
    return fmt::format("frame {}: context", moment.frame.number);
  }

  static Kept copy(const Moment& moment, std::string comment) {
    return {
        moment.frame, {moment.frame.bytes.begin(), moment.frame.bytes.end()}, std::move(comment)};
  }

  void take_event(const Moment& moment, const std::vector<u32>& shows, Followed* followed) {
    std::string comment = fmt::format("frame {}", moment.frame.number);
    if (moment.packet) {
      if (followed && !followed->name.empty()) comment += "; " + followed->name;
      if (const std::string text = class_text(moment); !text.empty()) comment += "; " + text;
    }
    for (const u32 i : shows) comment += "; finding: " + chapters_[i].topic.what;
    Chapter& chapter = chapters_[shows.front()];
    for (const u32 i : shows) ++chapters_[i].events;
    if (followed) {
      for (Kept& before : *followed->before) keep(std::move(before), &chapter);
      followed->before->clear();
      *followed->after = kContext;
    }
    keep(copy(moment, std::move(comment)), &chapter);
  }

  void keep(Kept kept, Chapter* chapter) {
    if (kept_bytes_ + kept.bytes.size() > kMostBytes) return;
    kept_bytes_ += kept.bytes.size();
    if (chapter) chapter->bytes += kept.bytes.size();
    kept_.push_back(std::move(kept));
  }

  PcapngWriter writer_;
  std::vector<Chapter> chapters_;
  std::size_t bytes_per_chapter_ = 0;
  std::map<u64, Followed> followed_;  // by id of the half-flow
  std::unordered_set<u64> ends_;      // first and last frames of topics
  std::unordered_map<u16, CaptureInfo> captures_;
  std::vector<Kept> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Output> make_excerpt(const Report& report, const std::string& path) {
  return std::make_unique<ExcerptOutput>(report, path);
}

}  // namespace rocetrace
