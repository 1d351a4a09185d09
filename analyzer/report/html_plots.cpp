// SPDX-License-Identifier: BSD-3-Clause
// Collects what the page plots. See html_plots.hpp.

#include "report/html_plots.hpp"

#include <limits>

#include "report/lookup.hpp"
#include "report/ranking.hpp"
#include "report/topics.hpp"
#include "roce/flow/traits.hpp"
#include "roce/net/pause_frame.hpp"
#include "roce/net/unopened.hpp"
#include "roce/psn.hpp"

namespace rocetrace {

using roce::flow::Observation;
using roce::flow::PacketClass;
using roce::flow::StreamKind;

namespace {

// Marks of a kind per bin, of a story that has `already` as many marks. What was sent again shows
// each packet as long as there are not too many.
constexpr std::size_t most_marks(Mark kind, std::size_t already) {
  constexpr std::size_t kMany = 4000;
  return kind == Mark::retransmission && already < kMany ? 64 : 4;
}
constexpr std::size_t kClosePerBin = 32;

bool is_new(const Moment& moment) {
  const PacketClass of = moment.arrival.packet_class;
  return of != PacketClass::retransmission && of != PacketClass::duplicate_capture &&
         of != PacketClass::stale && !moment.arrival.repeated_response;
}

// A bin keeps its first point and its last one.
void add_point(std::vector<PsnPoint>& points, PsnPoint point, std::size_t already) {
  if (already >= 2) points.pop_back();
  points.push_back(point);
}

bool is_pause(const Frame& frame) {
  using namespace roce::net;
  Path path;
  const Cursor at = walk_to_unopened(frame.bytes, frame.wire_size, frame.link_type, path);
  return at.next == Next{Space::ether_type, roce::kMacControlEtherType};
}

}  // namespace

void BinCounts::add(const Moment& moment, std::size_t bin) {
  const Observation& packet = *moment.packet;
  wire_bytes[bin] += packet.wire_size;
  if (is_new(moment)) good_bytes[bin] += packet.payload_size;
  if (packet.ecn() == 3) ++ce[bin];
  switch (event_kind(moment)) {
    case EventKind::retransmission: ++retransmissions[bin]; break;
    case EventKind::nak: ++naks[bin]; break;
    case EventKind::rnr_nak: ++rnr_naks[bin]; break;
    case EventKind::cnp: ++cnps[bin]; break;
    case EventKind::none:
    case EventKind::gap: break;
  }
}

std::size_t PsnStory::InBin::more(std::size_t now) {
  if (bin != now) *this = {now, 0};
  return count++;
}

i64 PsnStory::unwrapped(u32 psn) {
  if (!started_) {
    started_ = true;
    last_ = highest_ = psn;
    acked_ = last_ - 1;
  }
  const roce::Psn before{static_cast<u32>(last_ & 0xff'ffff)};
  last_ += distance(before, roce::Psn{psn});
  return last_;
}

void PsnStory::keep_close(PsnPoint point, std::size_t bin) {
  if (close_in_bin_.more(bin) < kClosePerBin) close_up.push_back(point);
}

void PsnStory::send(PsnPoint point, std::size_t bin) {
  add_point(sent, point, sent_in_bin_.more(bin));
  if (after_ > 0) {
    --after_;
    return keep_close(point, bin);
  }
  before_[before_at_] = point;
  before_at_ = (before_at_ + 1) % kContext;
  before_size_ = std::min(before_size_ + 1, kContext);
}

void PsnStory::mark(MarkPoint point, std::size_t bin) {
  const auto kind = static_cast<std::size_t>(point.mark);
  if (marks_in_bin_[kind].more(bin) < most_marks(point.mark, marks.size())) {
    marks.push_back(point);
  } else {
    // The last mark of a bin stands for all that follow in it, and where they end.
    const auto latest = std::find_if(marks.rbegin(), marks.rend(), [&](const MarkPoint& known) {
      return known.mark == point.mark;
    });
    point.count = latest->count + 1;
    point.missing += latest->missing;
    *latest = point;
  }
  for (std::size_t i = kContext - before_size_; i < kContext; ++i)
    keep_close(before_[(before_at_ + i) % kContext], bin);
  before_size_ = 0;
  after_ = kContext;
}

void PsnStory::request(const Moment& moment, std::size_t bin, u32 path_mtu) {
  const Observation& packet = *moment.packet;
  const PacketClass of = moment.arrival.packet_class;
  if (of == PacketClass::stale || of == PacketClass::duplicate_capture) return;
  MarkPoint point{.at = {packet.time, unwrapped(packet.psn)}, .frame = packet.frame};
  const auto add = [&](Mark what) {
    point.mark = what;
    mark(point, bin);
  };
  if (packet.ecn() == 3) add(Mark::ce);
  if (of == PacketClass::retransmission) {
    if (moment.episode) {
      point.note = name(moment.episode->cause);
      point.place = name(moment.episode->place);
    }
    add(Mark::retransmission);
  } else if (of == PacketClass::reordered) {
    add(Mark::reordered);
  } else {
    if (moment.arrival.missing > 0) {
      point.missing = moment.arrival.missing;
      add(Mark::gap);
    }
    send(point.at, bin);
  }
  i64 end = point.at.psn;
  const bool is_read = roce::flow::kTraits[packet.opcode].is(roce::flow::kReadRequest);
  if (is_read && path_mtu > 0 && packet.dma_length > 0) end += (packet.dma_length - 1) / path_mtu;
  highest_ = std::max(highest_, end);
  outstanding[bin] =
      std::max(outstanding[bin], static_cast<u64>(std::max<i64>(highest_ - acked_, 0)));
}

void PsnStory::answer(const Moment& moment, std::size_t bin) {
  const Observation& packet = *moment.packet;
  MarkPoint point{.at = {packet.time, highest_}, .frame = packet.frame};
  if (moment.arrival.stream == StreamKind::cnp) {
    point.mark = Mark::cnp;
    if (started_) mark(point, bin);
    return;
  }
  if (moment.arrival.stream != StreamKind::response ||
      moment.arrival.packet_class == PacketClass::duplicate_capture)
    return;
  point.at.psn = unwrapped(packet.psn);
  const EventKind kind = event_kind(moment);
  if (kind == EventKind::nak || kind == EventKind::rnr_nak) {
    point.mark = kind == EventKind::nak ? Mark::nak : Mark::rnr_nak;
    point.note = syndrome_word(packet.syndrome());
    return mark(point, bin);
  }
  if (packet.ecn() == 3) {
    point.mark = Mark::ce;
    mark(point, bin);
  }
  acked_ = std::max(acked_, point.at.psn);
  add_point(answered, {packet.time, acked_}, answered_in_bin_.more(bin));
  note_answer(moment, bin);
}

void PsnStory::note_answer(const Moment& moment, std::size_t bin) {
  const u64 asked = moment.arrival.answers_time;
  if (asked == 0 || asked > moment.packet->time || moment.arrival.repeated_response) return;
  const u64 took = moment.packet->time - asked;
  latency_sum[bin] += took;
  latency_max[bin] = std::max(latency_max[bin], took);
  latency_min[bin] = latency_count[bin] == 0 ? took : std::min(latency_min[bin], took);
  ++latency_count[bin];
}

BinAxis trace_axis(const Report& report) {
  u64 begin = std::numeric_limits<u64>::max();
  u64 end = 0;
  for (const CaptureRow& capture : report.captures) {
    if (capture.first_time) begin = std::min(begin, capture.first_time->ns);
    if (capture.last_time) end = std::max(end, capture.last_time->ns);
  }
  return {std::min(begin, end), end};
}

Plots::Plots(const Report& report) : axis_{trace_axis(report)} {
  select(report);
  choose(report);
}

// Ids count from 1, so a report of all half-flows ends with the id that is their number.
void Plots::select(const Report& report) {
  const std::size_t size = report.half_flows.size();
  if (size == 0 || report.half_flows.at(size - 1).id == size) return;
  selected_.resize(report.half_flows.at(size - 1).id + 1);
  report.half_flows.each([&](const HalfFlowRow& row) { selected_[row.id] = true; });
}

void Plots::choose(const Report& report) {
  std::vector<u64> wanted;
  for (const Topic& topic : topics(report, 4 * kConnections, 2))
    wanted.insert(wanted.end(), topic.half_flows.begin(), topic.half_flows.end());
  for (const Ranked& ranked : rank(report.half_flows, 2 * kConnections).worst)
    wanted.push_back(report.half_flows.at(ranked.index).id);
  const std::map<u64, ConnectionRow> connections = connections_of(report, wanted);
  for (const u64 id : wanted)
    if (connections_.size() < kConnections && !where_.contains(id)) plot(report, id, connections);
}

void Plots::plot(const Report& report, u64 id, const std::map<u64, ConnectionRow>& connections) {
  ConnectionPlot plot;
  std::array<std::optional<u64>, 2> ids = {id, std::nullopt};
  if (const auto known = connections.find(id); known != connections.end()) {
    plot.connection = known->second;
    ids = known->second.half_flows;
  }
  u64 begin = std::numeric_limits<u64>::max();
  u64 end = 0;
  for (std::size_t side = 0; side < ids.size(); ++side) {
    if (!ids[side]) continue;
    where_[*ids[side]] = {connections_.size(), side};
    plot.half_flows[side] = half_flow(report, *ids[side]);
    if (!plot.half_flows[side]) continue;
    begin = std::min(begin, plot.half_flows[side]->first_time.ns);
    end = std::max(end, plot.half_flows[side]->last_time.ns);
  }
  plot.axis = {std::min(begin, end), end};
  connections_.push_back(std::move(plot));
}

void Plots::add(const Moment& moment) {
  if (!moment.packet) {
    if (is_pause(moment.frame)) ++pauses_[axis_.bin(moment.frame.time)];
    return;
  }
  const Observation& packet = *moment.packet;
  const u32 flow = moment.arrival.flow;
  if (!selected_.empty() && (flow >= selected_.size() || !selected_[flow])) return;
  const auto where = where_.find(flow);
  trace_.add(moment, axis_.bin(packet.time));
  if (where == where_.end()) return;
  ConnectionPlot& plot = connections_[where->second.connection];
  const std::size_t side = where->second.side;
  const std::size_t bin = plot.axis.bin(packet.time);
  plot.counts[side].add(moment, bin);
  if (moment.arrival.stream == StreamKind::request) {
    plot.stories[side].request(moment, bin, plot.connection.path_mtu.value_or(0));
  } else {
    plot.stories[1 - side].answer(moment, bin);
  }
}

}  // namespace rocetrace
