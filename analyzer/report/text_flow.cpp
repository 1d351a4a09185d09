// SPDX-License-Identifier: BSD-3-Clause
// One half-flow for people. See text_flow.hpp.

#include "report/text_flow.hpp"

#include "report/describe.hpp"
#include "report/human.hpp"
#include "report/sink.hpp"
#include "report/text_value.hpp"

namespace rocetrace {
namespace {

using Align = Columns::Align;

std::string or_dash(u64 value) {
  return value == 0 ? "-" : human::count(value);
}
std::string share_or_dash(u64 part, u64 whole) {
  return part == 0 ? "-" : human::tight(human::share(part, whole));
}

std::string plural(u64 count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", human::grouped(count), count == 1 ? one : many);
}

// "a, b and c" of the parts that are there.
class Listing {
 public:
  void add(u64 count, std::string_view one, std::string_view many) {
    if (count > 0) add(plural(count, one, many));
  }
  void add(u64 count, std::string_view name) { add(count, name, name); }
  void add(const std::string& text) {
    if (!text_.empty()) text_ += ", ";
    text_ += text;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The words of a vocabulary with their counts; those that are 0 are left out.
std::string tally(const auto& counts) {
  Listing listing;
  describe(counts, [&](std::string_view name, u64 count) {
    if (count > 0) listing.add(fmt::format("{} {}", name, human::grouped(count)));
  });
  return listing.text();
}

std::string distribution(const Distribution& times) {
  return fmt::format("min {}, median {}, p99 {}, max {}", human::duration(times.min),
                     human::duration(times.p50), human::duration(times.p99),
                     human::duration(times.max));
}

std::string traffic(const HalfFlowRow& row) {
  std::string text = fmt::format("{}, {} on the wire", plural(row.packets, "packet", "packets"),
                                 human::bytes(row.wire_bytes));
  const u64 elapsed = row.last_time.ns - std::min(row.first_time.ns, row.last_time.ns);
  if (elapsed > 0 && row.packets > 1) {
    const double seconds = static_cast<double>(elapsed) / 1e9;
    text += fmt::format(" in {}: {} packets/s, {}", human::duration(elapsed),
                        human::count(static_cast<double>(row.packets) / seconds),
                        human::bit_rate(static_cast<double>(row.wire_bytes) * 8 / seconds));
  }
  return text;
}

std::string labels(const HalfFlowRow& row) {
  Listing listing;
  for (const ValueCount& dscp : row.dscp)
    listing.add(row.dscp.size() == 1
                    ? fmt::format("DSCP {}", dscp.value)
                    : fmt::format("DSCP {} ({})", dscp.value, human::count(dscp.count)));
  for (const u16 vlan : row.vlans) listing.add(fmt::format("VLAN {}", vlan));
  if (row.source_ports.size() == 1)
    listing.add(fmt::format("UDP source port {}", row.source_ports.front()));
  if (row.source_ports.size() > 1)
    listing.add(fmt::format("{} UDP source ports ({}..{})", row.source_ports.size(),
                            row.source_ports.front(), row.source_ports.back()));
  return listing.text();
}

std::string answers(const ResponseSummary& responses) {
  Listing listing;
  listing.add(responses.acks, "ACK", "ACKs");
  listing.add(responses.read_responses, "READ response packet", "READ response packets");
  listing.add(responses.atomic_acks, "atomic acknowledge", "atomic acknowledges");
  listing.add(responses.naks.sequence, "sequence NAK", "sequence NAKs");
  listing.add(responses.naks.invalid_request, "invalid request NAK", "invalid request NAKs");
  listing.add(responses.naks.remote_access, "remote access NAK", "remote access NAKs");
  listing.add(responses.naks.remote_operational, "remote operational NAK",
              "remote operational NAKs");
  listing.add(responses.rnr_naks, "RNR NAK", "RNR NAKs");
  return listing.text();
}

std::string gaps(u64 count, u64 missing) {
  return fmt::format("{}, {} missing", plural(count, "gap", "gaps"),
                     plural(missing, "PSN", "PSNs"));
}

class Lines {
 public:
  Lines(Sink& out, unsigned width) : out_{out}, width_{width} {}
  void add(std::string_view name, const std::string& text) {
    if (!text.empty()) write_wrapped(out_, fmt::format("    {:<17}", name), text, width_);
  }

 private:
  Sink& out_;
  unsigned width_;
};

void write_requests(const RequestSummary& requests, Lines& lines) {
  if (requests.packets > 0)
    lines.add("requests", fmt::format("{} in {}", plural(requests.packets, "packet", "packets"),
                                      plural(requests.messages, "message", "messages")));
  if (const u64 resent = requests.retransmissions.value_or(0); resent > 0) {
    lines.add("retransmissions",
              fmt::format("{} of {} request packets ({}), {}, in {}", human::grouped(resent),
                          human::grouped(requests.packets), human::share(resent, requests.packets),
                          human::bytes(requests.retransmitted_bytes.value_or(0)),
                          plural(requests.episodes.value_or(0), "recovery", "recoveries")));
    if (requests.by_cause) lines.add("  by cause", tally(*requests.by_cause));
    if (requests.by_place) lines.add("  by place", tally(*requests.by_place));
  }
  if (requests.gaps.value_or(0) > 0)
    lines.add("PSN gaps", gaps(*requests.gaps, requests.missing_psns.value_or(0)));
  Listing other;
  other.add(requests.reordered.value_or(0), "reordered");
  other.add(requests.stale, "stale");
  other.add(requests.duplicate_captures, "captured twice");
  lines.add("also", other.text());
}

void write_responses(const ResponseSummary& responses, Lines& lines) {
  lines.add("answers", answers(responses));
  if (responses.gaps.value_or(0) > 0)
    lines.add("  PSN gaps", gaps(*responses.gaps, responses.missing_psns.value_or(0)));
  if (responses.retransmissions.value_or(0) > 0)
    lines.add("  sent again", plural(*responses.retransmissions, "packet", "packets"));
}

void write_congestion(const HalfFlowRow& row, Lines& lines) {
  if (row.cnp.packets > 0)
    lines.add("CNPs",
              plural(row.cnp.packets, "packet", "packets") +
                  (row.cnp.interval ? fmt::format("; interval {}", distribution(*row.cnp.interval))
                                    : std::string{}));
  const u64 capable = row.ecn.ect0 + row.ecn.ect1 + row.ecn.ce;
  if (row.ecn.ce > 0)
    lines.add("CE marks",
              fmt::format("{} of {} ECN-capable packets ({})", human::grouped(row.ecn.ce),
                          human::grouped(capable), human::share(row.ecn.ce, capable)));
}

std::string came_back(const HalfFlowRow& other) {
  Listing listing;
  listing.add(other.requests.packets, "request packet", "request packets");
  if (const std::string text = answers(other.responses); !text.empty()) listing.add(text);
  listing.add(other.cnp.packets, "CNP", "CNPs");
  return listing.text();
}

void write_other_side(const OtherSide& other, Lines& lines) {
  const ConnectionRow& connection = other.connection;
  if (other.row) {
    const std::string held = came_back(*other.row);
    lines.add("other direction",
              fmt::format("#{} (connection {}, known from {}, confidence {:.2f}){}{}",
                          other.row->id, connection.id, connection.evidence, connection.confidence,
                          held.empty() ? "" : ": ", held));
  }
  const auto times = [&](std::string_view name, const MaybeDistribution& value) {
    if (value) lines.add(name, distribution(*value));
  };
  times("ACK latency", connection.ack_latency);
  times("READ latency", connection.read_latency);
  times("message time", connection.message_time);
  times("gap to NAK", connection.nak_generation);
  times("NAK to resend", connection.nak_reaction);
  times("CE to CNP", connection.ce_to_cnp);
}

std::string median_and_p99(const MaybeDistribution& times) {
  if (!times) return "-";
  return human::tight(human::duration(times->p50) + "/" + human::duration(times->p99));
}

}  // namespace

Columns flow_columns() {
  return Columns{{{"#"},
                  {"source", Align::left, true},
                  {"destination", Align::left, true},
                  {"QP"},
                  {"type", Align::left, false, true},
                  {"pkts"},
                  {"bytes", Align::right, false, true},
                  {"resent"},
                  {"share", Align::right, false, true},
                  {"missing"},
                  {"NAK"},
                  {"RNR"},
                  {"CNP"},
                  {"CE"}}};
}

std::vector<std::string> flow_cells(const HalfFlowRow& row) {
  const u64 resent =
      row.requests.retransmissions.value_or(0) + row.responses.retransmissions.value_or(0);
  return {std::to_string(row.id),
          printable(row.source),
          printable(row.destination),
          fmt::format("{:#x}", row.dest_qp),
          std::string{row.service},
          human::count(row.packets),
          human::count(row.wire_bytes),
          or_dash(resent),
          share_or_dash(resent, row.requests.packets + row.responses.packets),
          or_dash(row.requests.missing_psns.value_or(0) + row.responses.missing_psns.value_or(0)),
          or_dash(row.responses.naks.total()),
          or_dash(row.responses.rnr_naks),
          or_dash(row.cnp.packets),
          share_or_dash(row.ecn.ce, row.ecn.ect0 + row.ecn.ect1 + row.ecn.ce)};
}

void write_flow(const HalfFlowRow& row, const std::optional<OtherSide>& other,
                const ReportStyle& style, Sink& out) {
  const std::string title =
      fmt::format("  #{}  {} -> {}  QP {:#x} ({})  {}{}, frames {} to {}", row.id,
                  printable(row.source), printable(row.destination), row.dest_qp, row.dest_qp,
                  row.service, row.version == 1 ? ", RoCEv1" : "", row.first_frame, row.last_frame);
  out.text(style.colour ? fmt::format("\x1b[1m{}\x1b[0m\n", title) : title + '\n');
  Lines lines{out, style.width};
  lines.add("traffic", traffic(row));
  lines.add("", labels(row));
  write_requests(row.requests, lines);
  write_responses(row.responses, lines);
  write_congestion(row, lines);
  if (row.icrc.bad > 0)
    lines.add("wrong ICRC", fmt::format("{} of {} checked", human::grouped(row.icrc.bad),
                                        human::grouped(row.icrc.bad + row.icrc.good)));
  if (other) write_other_side(*other, lines);
}

Columns connection_columns() {
  return Columns{{{"#"},
                  {"one end", Align::left, true},
                  {"other end", Align::left, true},
                  {"by", Align::left, false, true},
                  {"sure", Align::right, false, true},
                  {"MTU", Align::right, false, true},
                  {"ACK p50/p99"},
                  {"READ p50/p99"},
                  {"message p50/p99"}}};
}

std::vector<std::string> connection_cells(const ConnectionRow& row, std::string one_end,
                                          std::string other_end) {
  return {std::to_string(row.id),
          std::move(one_end),
          std::move(other_end),
          std::string{row.evidence},
          fmt::format("{:.2f}", row.confidence),
          row.path_mtu ? std::to_string(*row.path_mtu) : "-",
          median_and_p99(row.ack_latency),
          median_and_p99(row.read_latency),
          median_and_p99(row.message_time)};
}

}  // namespace rocetrace
