// SPDX-License-Identifier: BSD-3-Clause
#include "time_bin_rows.hpp"

#include <array>

namespace rocetrace {

using roce::flow::BinClock;
using roce::flow::BinTotals;
using roce::flow::HalfFlow;
using roce::flow::TimeBins;

namespace {

struct Counts {
  u64 packets = 0, wire_bytes = 0, payload_bytes = 0, retransmissions = 0, ce = 0, cnps = 0;

  void add(const Counts& other) {
    packets += other.packets;
    wire_bytes += other.wire_bytes;
    payload_bytes += other.payload_bytes;
    retransmissions += other.retransmissions;
    ce += other.ce;
    cnps += other.cnps;
  }
};

// The bins hold what the counters stood at; 32-bit ones may have wrapped in between.
Counts between(const BinTotals& before, const BinTotals& after) {
  return {.packets = after.packets - before.packets,
          .wire_bytes = after.wire_bytes - before.wire_bytes,
          .payload_bytes = after.payload_bytes - before.payload_bytes,
          .retransmissions = after.retransmissions - before.retransmissions,
          .ce = after.ce - before.ce,
          .cnps = after.cnps - before.cnps};
}

template <class Use>
void each_bin(const HalfFlow& flow, Use use) {
  BinTotals before;
  for (const TimeBins::Bin& bin : flow.bins.all()) {
    use(bin.number, between(before, bin.totals));
    before = bin.totals;
  }
}

TimeBinRow row_of(const BinClock& clock, std::optional<u64> half_flow, roce::u32 number,
                  const Counts& counts) {
  const double seconds = static_cast<double>(clock.width()) * 1e-9;
  const auto per_second = [&](u64 bytes) { return static_cast<double>(bytes) * 8 / seconds; };
  return {.half_flow = half_flow,
          .start = {clock.start() + u64{number} * clock.width()},
          .width_ns = clock.width(),
          .packets = counts.packets,
          .wire_bytes = counts.wire_bytes,
          .payload_bytes = counts.payload_bytes,
          .wire_bits_per_second = per_second(counts.wire_bytes),
          .payload_bits_per_second = per_second(counts.payload_bytes),
          .retransmissions = counts.retransmissions,
          .ce_marked = counts.ce,
          .cnps = counts.cnps};
}

}  // namespace

std::vector<TimeBinRow> time_bin_rows(const TraceState& state, const std::vector<roce::u32>& ids,
                                      bool each) {
  const BinClock& clock = state.tracker.clock();
  std::array<Counts, BinClock::kMostBins> together;
  std::vector<TimeBinRow> alone;
  for (const roce::u32 id : ids)
    each_bin(state.tracker.flows().at(id), [&](roce::u32 number, const Counts& counts) {
      together[number].add(counts);
      if (each) alone.push_back(row_of(clock, id, number, counts));
    });
  std::vector<TimeBinRow> rows;
  rows.reserve(together.size() + alone.size());
  for (roce::u32 number = 0; number < together.size(); number++)
    if (together[number].packets > 0)
      rows.push_back(row_of(clock, std::nullopt, number, together[number]));
  rows.insert(rows.end(), alone.begin(), alone.end());
  return rows;
}

}  // namespace rocetrace
