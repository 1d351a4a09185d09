// SPDX-License-Identifier: BSD-3-Clause
// The order of half-flows in the text report. See ranking.hpp.

#include "report/ranking.hpp"

#include <algorithm>

namespace rocetrace {
namespace {

// A share that a flow of a few packets cannot lead: one packet of three is not worse than a
// thousand of ten thousand.
double weighted_share(u64 part, u64 whole) {
  constexpr double kFewPackets = 100;
  return static_cast<double>(part) / (static_cast<double>(whole) + kFewPackets);
}

bool worse(const Ranked& a, const Ranked& b) {
  const auto order = a.trouble <=> b.trouble;
  return order > 0 || (!(order < 0) && a.index < b.index);
}

}  // namespace

Trouble trouble_of(const HalfFlowRow& row) {
  using Kind = Trouble::Kind;
  const RequestSummary& requests = row.requests;
  const ResponseSummary& responses = row.responses;
  const u64 resent = requests.retransmissions.value_or(0) + responses.retransmissions.value_or(0);
  const u64 missing = requests.missing_psns.value_or(0) + responses.missing_psns.value_or(0);
  const u64 gaps = requests.gaps.value_or(0) + responses.gaps.value_or(0);
  const u64 disorder = responses.naks.sequence + requests.reordered.value_or(0) + requests.stale;
  const u64 marked = row.ecn.ce + row.cnp.packets;
  const auto made = [&](Kind kind, u64 part) {
    return Trouble{kind, weighted_share(part, row.packets), row.packets};
  };
  if (responses.naks.fatal() > 0) return made(Kind::fatal_nak, responses.naks.fatal());
  if (resent > 0) return made(Kind::resent, resent);
  if (gaps > 0) return made(Kind::missing, std::min(missing, row.packets));
  if (disorder > 0) return made(Kind::disorder, disorder);
  if (responses.rnr_naks > 0) return made(Kind::not_ready, responses.rnr_naks);
  if (marked > 0) return made(Kind::congestion, marked);
  return {Kind::none, 0, row.packets};
}

Ranking rank(const Table<HalfFlowRow>& rows, std::size_t most) {
  Ranking ranking;
  std::vector<Ranked>& kept = ranking.worst;  // a heap, the least bad on top
  std::size_t index = 0;
  rows.each([&](const HalfFlowRow& row) {
    const Ranked candidate{trouble_of(row), index++};
    if (candidate.trouble.kind > Trouble::Kind::congestion) ++ranking.troubled;
    if (candidate.trouble.kind == Trouble::Kind::congestion) ++ranking.congested;
    if (kept.size() == most) {
      if (kept.empty() || !worse(candidate, kept.front())) return;
      std::ranges::pop_heap(kept, worse);
      kept.pop_back();
    }
    kept.push_back(candidate);
    std::ranges::push_heap(kept, worse);
  });
  std::ranges::sort_heap(kept, worse);
  return ranking;
}

}  // namespace rocetrace
