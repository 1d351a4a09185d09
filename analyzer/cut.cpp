// SPDX-License-Identifier: BSD-3-Clause
#include "cut.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "capture/pcapng_writer.hpp"
#include "capture/standard_input.hpp"
#include "selected_flows.hpp"

namespace rocetrace {

using roce::u32;
using roce::flow::HalfFlow;
using roce::flow::HalfFlowKey;

namespace {

// Half-flows whose packets are kept: element n for the one with id n.
std::vector<bool> kept_flows(const TraceState& state, const Options& options) {
  const roce::flow::FlowTable& flows = state.tracker.flows();
  std::vector<bool> kept(flows.size() + 1);
  std::set<std::pair<u32, u32>> hosts;
  for (const u32 id : selected_flows(state, options)) {
    kept[id] = true;
    const auto& key = flows.at(id).key;
    hosts.insert({key.source, key.destination});
    hosts.insert({key.destination, key.source});
  }
  // Who asks for a connection wants to see how it was set up.
  for (u32 id = 1; id <= flows.size(); id++) {
    const HalfFlow& flow = flows.at(id);
    if (flow.key.dest_qp() == roce::kCmQueuePair &&
        hosts.contains({flow.key.source, flow.key.destination}))
      kept[id] = true;
  }
  return kept;
}

void write_flows(const Options& options, Progress& progress, PcapngWriter& writer) {
  prepare_to_read_twice(options.captures);
  TraceState state(options);
  state.run(progress);
  const std::vector<bool> kept = kept_flows(state, options);
  rewind_standard_input(options.captures);
  SelectedTrace trace(options);
  Decoder decoder;  // gives out the same address ids as the first one
  FrameBatch batch;
  while (trace.next(batch)) {
    const auto packets = decoder.decode(batch);
    std::size_t next = 0;
    for (const Frame& frame : batch) {
      if (next == packets.size()) break;
      if (packets[next].frame != frame.number) continue;
      const auto key = HalfFlowKey::of(packets[next++]);
      if (kept[state.tracker.flows().find(key, hash(key))])
        writer.write(frame, trace.info(frame.capture));
    }
  }
}

void write_frames(const Options& options, Progress& progress, PcapngWriter& writer) {
  SelectedTrace trace(options);
  FrameBatch batch;
  while (trace.next(batch)) {
    for (const Frame& frame : batch) writer.write(frame, trace.info(frame.capture));
    progress.update(trace.bytes_read(), trace.total_size(), writer.frames());
  }
}

}  // namespace

roce::u64 cut(const Options& options, Progress& progress) {
  PcapngWriter writer(options.outputs.front());
  if (options.qps.empty() && options.hosts.empty())
    write_frames(options, progress, writer);
  else
    write_flows(options, progress, writer);
  writer.finish();
  return writer.frames();
}

}  // namespace rocetrace
