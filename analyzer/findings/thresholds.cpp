// SPDX-License-Identifier: BSD-3-Clause
#include "findings/thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>

namespace rocetrace {
namespace {

// clang-format off
constexpr Threshold kTable[] = {
    {"ack.stall.warning",            Unit::duration, 1e9,   "an answer this late is a warning"},
    {"capture.coarse.share",         Unit::share,    0.3,   "packets with the time of the one before"},
    {"capture.sampled.share",        Unit::share,    0.5,   "packets of a flow that open a gap"},
    {"cm.no_reply.wait",             Unit::duration, 4e9,   "how long one REQ may stay without an answer"},
    {"cm.slow.warning",              Unit::duration, 1e9,   "from a REQ to its answer"},
    {"cnp.delay.warning",            Unit::duration, 1e5,   "median from a CE mark to the CNP"},
    {"cnp.ignored.cnps",             Unit::count,    20,    "CNPs before the sender's reaction is judged"},
    {"cnp.ignored.share",            Unit::share,    0.4,   "CNPs that should slow the sender down"},
    {"cnp.missing.wait",             Unit::duration, 1e6,   "how long a CNP may take after a CE mark"},
    {"cnp.missing.intervals",        Unit::count,    10,    "or how many usual intervals of CNPs"},
    {"cnp.without_ce.on_nak",        Unit::duration, 1e4,   "how near to a NAK a CNP is due to it"},
    {"counters.disagree.share",      Unit::share,    0.01,  "difference between a NIC's count and the trace's"},
    {"ecn.marked.warning",           Unit::share,    0.05,  "CE marks among ECN-capable packets"},
    {"entropy.flows",                Unit::count,    4,     "queue pairs before their ports are judged"},
    {"entropy.warning",              Unit::share,    0.5,   "normalised entropy of UDP source ports"},
    {"entropy.hot.share",            Unit::share,    0.5,   "bytes of a host pair on one source port"},
    {"incast.senders",               Unit::count,    4,     "senders to one host at the same time"},
    {"link.gbps",                    Unit::count,    100,   "link speed that pause times are counted with"},
    {"loss.retransmission.warning",  Unit::share,    0.001, "retransmitted packets of a half-flow"},
    {"loss.retransmission.error",    Unit::share,    0.05,  "retransmitted packets of a half-flow"},
    {"loss.reordering.warning",      Unit::share,    0.001, "reordered packets of a half-flow"},
    {"loss.unrecovered.wait",        Unit::duration, 1e8,   "how long a gap may stay open"},
    {"nak.slow.warning",             Unit::duration, 1e5,   "median of NAK generation or reaction"},
    {"nak.slow.error",               Unit::duration, 1e7,   "median of NAK generation or reaction"},
    {"noisy_neighbour.share",        Unit::share,    0.5,   "bytes to a host from one sender"},
    {"path.tries",                   Unit::count,    3,     "tries of one PSN in vain, the first among them"},
    {"pfc.heavy.share",              Unit::share,    0.1,   "time that a priority is paused"},
    {"pfc.heavy.time",               Unit::duration, 1e7,   "for how long, to be much"},
    {"pfc.storm.share",              Unit::share,    0.9,   "time that a priority is paused"},
    {"pfc.storm.time",               Unit::duration, 4e8,   "for how long, to be a storm"},
    {"retry.exhausted.resends",      Unit::count,    3,     "resends of one PSN without progress"},
    {"retry.exhausted.silence",      Unit::count,    4,     "silence after the last, in gaps between them"},
    {"rnr.storm.rate",               Unit::rate,     10,    "RNR NAKs of one responder"},
    {"rnr.storm.share",              Unit::share,    0.05,  "time waited for a responder"},
    {"slowest_qp.factor",            Unit::count,    3,     "times the median latency of its neighbours"},
    {"spurious.warning",             Unit::share,    0.01,  "needless among retransmitted packets"},
    {"stall.warning",                Unit::duration, 1e9,   "a silence with work outstanding"},
    {"stop_and_wait.messages",       Unit::count,    64,    "messages before pipelining is judged"},
};
// clang-format on

const Threshold* row_of(std::string_view key) {
  const auto* row = std::ranges::find(kTable, key, &Threshold::key);
  return row != std::end(kTable) ? row : nullptr;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::optional<double> factor_of(Unit unit, std::string_view suffix) {
  switch (unit) {
    case Unit::count:
      if (suffix.empty()) return 1;
      break;
    case Unit::rate:
      if (suffix.empty() || suffix == "/s") return 1;
      break;
    case Unit::share:
      if (suffix.empty()) return 1;
      if (suffix == "%") return 0.01;
      break;
    case Unit::duration:
      if (suffix == "ns") return 1;
      if (suffix == "us") return 1e3;
      if (suffix == "ms") return 1e6;
      if (suffix == "s") return 1e9;
      break;
  }
  return std::nullopt;
}

std::string_view example(Unit unit) {
  switch (unit) {
    case Unit::count: return "a number, such as 20";
    case Unit::share: return "a share, such as 0.1% or 0.001";
    case Unit::duration: return "a duration, such as 100us, 2.5ms or 1s";
    case Unit::rate: return "a rate per second, such as 10";
  }
  return {};
}

}  // namespace

std::span<const Threshold> thresholds() {
  return kTable;
}

Thresholds::Thresholds() {
  static_assert(std::size(kTable) <= kMost);
  for (std::size_t i = 0; i < std::size(kTable); i++) values_[i] = kTable[i].value;
}

void Thresholds::set(std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  const std::string_view key = trimmed(assignment.substr(0, equals));
  const Threshold* row = row_of(key);
  if (equals == std::string_view::npos || !row)
    throw std::runtime_error{
        fmt::format("'{}' sets no threshold; rocetrace explain thresholds lists them", assignment)};
  const std::string_view text = trimmed(assignment.substr(equals + 1));
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto used = static_cast<std::size_t>(end - text.data());
  const auto factor = factor_of(row->unit, trimmed(text.substr(error == std::errc{} ? used : 0)));
  if (error != std::errc{} || !factor || !(value >= 0) || value > 1e18)
    throw std::runtime_error{fmt::format("{}: '{}' is not {}", row->key, text, example(row->unit))};
  values_[static_cast<std::size_t>(row - kTable)] = value * *factor;
}

void Thresholds::read(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error{file + ": " + std::strerror(errno)};
  std::string line;
  for (std::size_t number = 1; std::getline(in, line); number++) {
    const std::string_view text = trimmed(std::string_view(line).substr(0, line.find('#')));
    if (text.empty()) continue;
    try {
      set(text);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error{fmt::format("{}: line {}: {}", file, number, error.what())};
    }
  }
  if (in.bad()) throw std::runtime_error{file + ": " + std::strerror(errno)};
}

double Thresholds::operator[](std::string_view key) const {
  const Threshold* row = row_of(key);
  assert(row);
  return values_[static_cast<std::size_t>(row - kTable)];
}

}  // namespace rocetrace
