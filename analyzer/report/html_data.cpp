// SPDX-License-Identifier: BSD-3-Clause
// The data of the page, as JSON. All times are nanoseconds since the beginning of the trace.

#include "report/html_data.hpp"

#include "report/html_table.hpp"
#include "report/json_value.hpp"

namespace rocetrace {
namespace {

// What is behind the last value is 0, and needs no words.
void write_bins(Sink& out, const Bins& bins) {
  std::size_t size = bins.size();
  while (size > 0 && bins[size - 1] == 0) --size;
  out.put('[');
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) out.put(',');
    out.number(bins[i]);
  }
  out.put(']');
}

void write_counts(Sink& out, const BinCounts& counts) {
  const std::pair<std::string_view, const Bins*> all[] = {{"wire_bytes", &counts.wire_bytes},
                                                          {"good_bytes", &counts.good_bytes},
                                                          {"resent", &counts.retransmissions},
                                                          {"ce", &counts.ce},
                                                          {"cnps", &counts.cnps},
                                                          {"rnr_naks", &counts.rnr_naks},
                                                          {"naks", &counts.naks}};
  char before = '{';
  for (const auto& [name, bins] : all) {
    out.print("{}\"{}\":", before, name);
    write_bins(out, *bins);
    before = ',';
  }
  out.put('}');
}

class PlotWriter {
 public:
  PlotWriter(Sink& out, u64 origin) : out_{out}, origin_{origin} {}

  void axis(const BinAxis& axis) {
    out_.print("\"begin\":{},\"width\":{}", from_origin(axis.begin()), axis.width());
  }

  void connection(const ConnectionPlot& plot) {
    out_.print("{{\"connection\":{},", plot.connection.id);
    axis(plot.axis);
    out_.text(",\"half_flows\":");
    json::write(out_, plot.half_flows);
    out_.text(",\"facts\":");
    plot.connection.id != 0 ? json::write(out_, plot.connection) : json::null(out_);
    out_.text(",\n\"counts\":[");
    write_counts(out_, plot.counts[0]);
    out_.put(',');
    write_counts(out_, plot.counts[1]);
    out_.text("],\n\"stories\":[");
    story(plot.stories[0]);
    out_.text(",\n");
    story(plot.stories[1]);
    out_.text("]}");
  }

 private:
  i64 from_origin(u64 time) const { return static_cast<i64>(time - origin_); }

  void story(const PsnStory& story) {
    points("{\"sent\":", story.sent);
    points(",\"close_up\":", story.close_up);
    points(",\"answered\":", story.answered);
    out_.text(",\"marks\":[");
    for (std::size_t i = 0; i < story.marks.size(); ++i) {
      if (i > 0) out_.put(',');
      mark(story.marks[i]);
    }
    Bins mean{};
    for (std::size_t i = 0; i < mean.size(); ++i)
      if (story.latency_count[i] > 0) mean[i] = story.latency_sum[i] / story.latency_count[i];
    out_.text("],\"outstanding\":");
    write_bins(out_, story.outstanding);
    out_.text(",\"latency_min\":");
    write_bins(out_, story.latency_min);
    out_.text(",\"latency_mean\":");
    write_bins(out_, mean);
    out_.text(",\"latency_max\":");
    write_bins(out_, story.latency_max);
    out_.put('}');
  }

  // [time, PSN, time, PSN, ...]
  void points(std::string_view name, const std::vector<PsnPoint>& points) {
    out_.text(name);
    out_.put('[');
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (i > 0) out_.put(',');
      point(points[i]);
    }
    out_.put(']');
  }
  void point(const PsnPoint& point) {
    out_.number(from_origin(point.time));
    out_.put(',');
    out_.number(point.psn);
  }
  // [kind, time, PSN, frame, count, missing, note, place]
  void mark(const MarkPoint& mark) {
    out_.print("[{},", static_cast<unsigned>(mark.mark));
    point(mark.at);
    out_.print(",{},{},{},\"{}\",\"{}\"]", mark.frame, mark.count, mark.missing, mark.note,
               mark.place);
  }

  Sink& out_;
  u64 origin_;
};

}  // namespace

void write_page_data(const Report& report, const Plots& plots, Sink& out) {
  const u64 origin = plots.axis().begin();
  out.text("{\"origin\":");
  json::write(out, Time{origin});
  out.text(",\n");
  PageTable{report}.write(out, origin);
  PlotWriter writer{out, origin};
  out.text(",\n\"trace\":{");
  writer.axis(plots.axis());
  out.text(",\"counts\":");
  write_counts(out, plots.trace());
  out.text(",\"pauses\":");
  write_bins(out, plots.pauses());
  out.print("}},\n\"bins\":{},\"marks\":", BinAxis::kBins);
  json::write(out, kMarks);
  out.text(",\n\"plots\":[");
  bool first = true;
  for (const ConnectionPlot& plot : plots.connections()) {
    out.text(first ? "\n" : ",\n");
    first = false;
    writer.connection(plot);
  }
  out.text("]}");
}

}  // namespace rocetrace
