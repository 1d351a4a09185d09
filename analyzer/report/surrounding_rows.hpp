// SPDX-License-Identifier: BSD-3-Clause
// What stands beside RoCE in a capture and explains it: rows of a report, and their published names
// (see describe.hpp).

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/row_values.hpp"

namespace rocetrace {

/// ICMP errors of one kind about RoCE packets from one host to another.
struct IcmpErrorRow {
  std::string reporter;       // who sent them
  Word error;                 // "port unreachable", ...
  std::string source;         // of the RoCE packets
  std::string destination;    //
  std::vector<u32> dest_qps;  // as far as the errors quote them, ascending; the first few
  std::optional<u32> mtu;     // bytes, as the latest names it
  u64 packets = 0;
  u64 first_frame = 0;
  u64 last_frame = 0;
  Time first_time;
  Time last_time;
};

template <class Visit>
void describe(const IcmpErrorRow& row, Visit&& visit) {
  visit("reporter", row.reporter);
  visit("error", row.error);
  visit("source", row.source);
  visit("destination", row.destination);
  visit("dest_qps", row.dest_qps);
  visit("mtu", row.mtu);
  visit("packets", row.packets);
  visit("first_frame", row.first_frame);
  visit("last_frame", row.last_frame);
  visit("first_time", row.first_time);
  visit("last_time", row.last_time);
}

/// Pause frames of one sender and priority.
struct PauseRow {
  std::string mac;                 // of who wants a pause
  std::vector<std::string> hosts;  // addresses that RoCE packets with this MAC come from
  std::optional<u32> priority;     // 0..7; empty: all, by a global pause
  u64 frames = 0;
  u64 stops = 0;  // frames that ask for a pause; the others end one
  u64 paused_ns = 0;
  u64 longest_ns = 0;           // without interruption
  double paused_share = 0;      // of the time that the trace covers, 0..1
  double gigabits_assumed = 0;  // speed of the link, Gbit/s: how long a stop lasts depends on it
  u64 first_frame = 0;
  u64 last_frame = 0;
  Time first_time;
  Time last_time;
};

template <class Visit>
void describe(const PauseRow& row, Visit&& visit) {
  visit("mac", row.mac);
  visit("hosts", row.hosts);
  visit("priority", row.priority);
  visit("frames", row.frames);
  visit("stops", row.stops);
  visit("paused_ns", row.paused_ns);
  visit("longest_ns", row.longest_ns);
  visit("paused_share", row.paused_share);
  visit("gigabits_assumed", row.gigabits_assumed);
  visit("first_frame", row.first_frame);
  visit("last_frame", row.last_frame);
  visit("first_time", row.first_time);
  visit("last_time", row.last_time);
}

/// What a port said last of its classes of traffic, in LLDP.
struct DcbxRow {
  std::string mac;
  std::string system;              // as it calls itself
  std::string port;                //
  std::vector<std::string> hosts;  // addresses that RoCE packets with this MAC come from
  Word version;                    // ieee, cee
  std::optional<std::vector<u32>> lossless_priorities;  // by PFC; empty: not said
  std::optional<bool> pfc_willing;                      // to take the peer's
  std::vector<u32> class_of_priority;                   // eight, by ETS; none: not said
  std::vector<u32> bandwidth_of_class;                  // percent, eight
  std::vector<u32> roce_priorities;                     // meant for RoCE's EtherType or port
  std::vector<std::string> dscp_priorities;             // "26:3"
  u64 frames = 0;
  u64 changes = 0;  // of what it said
};

template <class Visit>
void describe(const DcbxRow& row, Visit&& visit) {
  visit("mac", row.mac);
  visit("system", row.system);
  visit("port", row.port);
  visit("hosts", row.hosts);
  visit("version", row.version);
  visit("lossless_priorities", row.lossless_priorities);
  visit("pfc_willing", row.pfc_willing);
  visit("class_of_priority", row.class_of_priority);
  visit("bandwidth_of_class", row.bandwidth_of_class);
  visit("roce_priorities", row.roce_priorities);
  visit("dscp_priorities", row.dscp_priorities);
  visit("frames", row.frames);
  visit("changes", row.changes);
}

/// RoCE packets that sFlow agents sampled, of one kind.
struct SampleRow {
  std::string source;
  std::string destination;
  u32 dest_qp = 0;
  std::string opcode;  // "RC SEND Only"
  Word ecn;            // not_ect, ect1, ect0, ce
  u64 samples = 0;
  u64 estimated_packets = 0;  // each sample stands for as many as its agent's sampling rate says
};

template <class Visit>
void describe(const SampleRow& row, Visit&& visit) {
  visit("source", row.source);
  visit("destination", row.destination);
  visit("dest_qp", row.dest_qp);
  visit("opcode", row.opcode);
  visit("ecn", row.ecn);
  visit("samples", row.samples);
  visit("estimated_packets", row.estimated_packets);
}

}  // namespace rocetrace
