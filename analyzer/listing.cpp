// SPDX-License-Identifier: BSD-3-Clause
// The packet listing: a first pass that settles every class, cause and place, and a second that
// prints them.

#include "analyze.hpp"
#include "capture/standard_input.hpp"
#include "report/event.hpp"
#include "report/packet_row.hpp"
#include "report/sink.hpp"
#include "roce/opcode.hpp"
#include "selected_flows.hpp"
#include "trace_state.hpp"
#include "verdicts.hpp"

namespace rocetrace {

using roce::flow::Arrival;
using roce::flow::Cause;
using roce::flow::Observation;
using roce::flow::PacketClass;
using roce::flow::Place;
using roce::flow::SettledEpisode;

namespace {

/// "RC SEND First" for each opcode; empty for an unknown one.
const std::array<std::string, 256>& opcode_names() {
  static const std::array<std::string, 256> names = [] {
    std::array<std::string, 256> made;
    for (std::size_t opcode = 0; opcode < made.size(); opcode++) {
      const roce::OpcodeInfo& info = roce::kOpcodes[opcode];
      if (!info.known()) continue;
      made[opcode] = info.service == info.name
                         ? std::string(info.name)
                         : std::string(info.service) + " " + std::string(info.name);
    }
    return made;
  }();
  return names;
}

void fill(const Observation& packet, const Arrival& arrival, const SettledEpisode* episode,
          PacketRow& row) {
  using namespace roce::flow;
  row.frame = packet.frame;
  row.time = {packet.time};
  row.source_port.reset();
  if (packet.has(kHasSourcePort)) row.source_port = packet.source_port;
  row.dest_qp = packet.dest_qp;
  row.opcode = opcode_names()[packet.opcode];
  row.opcode_number = packet.opcode;
  row.psn = packet.psn;
  row.ack_req = packet.has(kAckRequested);
  row.payload_bytes = packet.payload_size;
  row.ecn = packet.ecn();
  row.dscp = packet.dscp();
  row.half_flow.reset();
  if (arrival.flow != 0) row.half_flow = arrival.flow;
  row.packet_class =
      arrival.packet_class != PacketClass::none ? name(arrival.packet_class) : Word{};
  row.cause = episode && episode->cause != Cause::none ? name(episode->cause) : Word{};
  row.place = episode && episode->place != Place::none ? name(episode->place) : Word{};
  row.syndrome = {};
  row.msn.reset();
  if (packet.has(kHasAeth)) {
    row.syndrome = syndrome_word(packet.syndrome());
    row.msn = packet.aeth & 0xff'ffff;
  }
  row.icrc = packet.has(kIcrcGood) ? "good" : packet.has(kIcrcBad) ? "bad" : "not_captured";
}

}  // namespace

void list_packets(const Options& options, const PacketFormat& format, Sink& out,
                  Progress& progress) {
  prepare_to_read_twice(options.captures);
  TraceState first(options, true);
  first.run(progress);
  // Half-flows have the same ids in the second pass.
  std::vector<bool> wanted(first.tracker.flows().size() + 1,
                           options.qps.empty() && options.hosts.empty());
  for (const u32 id : selected_flows(first, options)) wanted[id] = true;
  Verdicts verdicts(std::move(first.tracker.settlements()));

  format.begin(out);
  rewind_standard_input(options.captures);
  TraceState second(options);
  PacketRow row;
  second.run(progress, [&](std::span<const Observation> packets,
                           std::span<const Arrival> arrivals) {
    for (std::size_t i = 0; i < packets.size(); i++) {
      if (!wanted[arrivals[i].flow]) continue;
      Arrival arrival = arrivals[i];
      verdicts.settle(packets[i].frame, arrival);
      const auto source = second.decoder.addresses().address(packets[i].source).text();
      const auto destination = second.decoder.addresses().address(packets[i].destination).text();
      row.source = source;
      row.destination = destination;
      fill(packets[i], arrival, verdicts.episode(arrival.episode), row);
      format.row(row, out);
    }
  });
}

}  // namespace rocetrace
