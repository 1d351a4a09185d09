// SPDX-License-Identifier: BSD-3-Clause
// Findings of the path and of how hosts address each other, each with its relative.

#include "pairs.hpp"

namespace rocetrace::test {
namespace {

constexpr u64 kOtherMac = 0x02'00'00'00'77'77;

// A host that asks three times and hears nothing; whether others are answered, and whether it was
// before.
Report unanswered(bool others_are, bool was_answered, bool is_at_last = false, u32 tries = 4) {
  Frames frames;
  const Ends ends, others{.a = "10.0.0.7", .b = "10.0.0.8"};
  if (was_answered) frames.add(ends.send(4), 0ms).add(ends.ack(4), 1ms);
  for (u32 i = 0; i < tries; i++) frames.add(ends.send(5), 10ms + i * 67ms);
  if (is_at_last) frames.add(ends.ack(5), 212ms);
  if (others_are)
    for (u32 i = 0; i < 10; i++)
      frames.add(others.send(i), i * 70ms).add(others.ack(i), i * 70ms + 1ms);
  return analyzed(frames);
}

// Requests with one RoCE version, answers with another; or both ways with each.
Report versions(int back, const std::string& other = "10.0.0.1") {
  Frames frames;
  for (u32 psn = 0; psn < 4; psn++) {
    Packet request = Ends{}.send(psn), answer = Ends{.a = other}.ack(psn);
    request.version = 1;
    answer.version = back;
    frames.add(request, psn * 1ms).add(answer, psn * 1ms + 20us);
  }
  return analyzed(frames);
}

// Requests of which every other one has another source MAC, and another TTL if the way is longer.
Report two_macs(u8 other_ttl, u64 other_mac = kOtherMac) {
  Frames frames;
  for (u32 i = 0; i < 4; i++) {
    const Ends ends{.qp_a = 0x11 + i, .qp_b = 0x22 + i, .port = static_cast<u16>(50000 + i)};
    Packet request = ends.send(0), answer = ends.ack(0);
    if (i % 2 == 1) {
      request.source_mac = other_mac == 0 ? request.source_mac : other_mac;
      answer.destination_mac = request.source_mac;
      request.ttl = other_ttl;
    }
    frames.add(request, i * 1ms).add(answer, i * 1ms + 20us);
  }
  return analyzed(frames);
}

// A sender that repeats itself, and one of its repeats with one bit of the MAC turned over.
Report damaged_mac() {
  Frames frames;
  for (u32 i = 0; i < 20; i++) {
    Packet request = Ends{}.send(0);
    if (i == 10) request.source_mac ^= 0x2000;
    frames.add(request, i * 1ms).add(Ends{}.ack(0), i * 1ms + 20us);
  }
  return analyzed(frames);
}

Report answered_by(u64 mac) {
  Frames frames;
  for (u32 psn = 0; psn < 4; psn++) {
    Packet answer = Ends{}.ack(psn);
    if (mac != 0) answer.source_mac = mac;
    frames.add(Ends{}.send(psn), psn * 1ms).add(answer, psn * 1ms + 20us);
  }
  return analyzed(frames);
}

// An ICMP error about a datagram to that port.
Report icmp(u16 port) {
  Frames frames;
  frames.add(Ends{}.send(0), 0us).add(Ends{}.send(1), 1us);
  Packet refused = Ends{}.send(0);
  refused.destination_port = port;
  Buffer quoted = refused.network();
  quoted.resize(20 + 8 + 12);
  Buffer message = roce::test::wrap({3, 3, 0, 0, 0, 0, 0, 0}, quoted);
  frames.add(roce::test::ethernet(0x0800, roce::test::ipv4(1, message)), 50us);
  return analyzed(frames);
}

// Messages of First and Middle packets of `one` bytes from a to b, and of `other` back.
Report mtus(std::size_t one, std::size_t other, bool refused) {
  Frames frames;
  const Ends ends;
  const auto message = [&](bool from_a, u32 psn, std::size_t size, auto time) {
    for (u32 i = 0; i < 3; i++) {
      const Packet packet{
          .opcode = static_cast<u8>(i), .psn = psn + i, .payload_size = i < 2 ? size : 100};
      frames.add(from_a ? ends.from_a(packet) : ends.from_b(packet), time + i * 1us);
    }
  };
  message(true, 0, one, 0us);
  frames.add(ends.ack(2), 20us);
  message(false, 50, other, 40us);
  frames.add(ends.from_a({.opcode = 0x11, .psn = 52, .syndrome = refused ? u8{0x61} : u8{0x1f}}),
             60us);
  return analyzed(frames);
}

// Small SENDs are answered, and perhaps a message with a packet of full size; then there is one of
// which nothing is heard.
Report large_ones(bool small_answered, bool large_answered) {
  Frames frames;
  const Ends ends;
  const auto message = [&](u32 psn, auto time) {
    frames.add(ends.from_a({.opcode = 0x00, .psn = psn, .payload_size = 4096}), time);
    frames.add(ends.from_a({.opcode = 0x02, .psn = psn + 1, .payload_size = 100}), time + 1us);
  };
  if (small_answered)
    for (u32 psn = 0; psn < 4; psn++)
      frames.add(ends.send(psn), psn * 1ms).add(ends.ack(psn), psn * 1ms + 20us);
  if (large_answered) {
    message(4, 5ms);
    frames.add(ends.ack(5), 6ms);
  }
  for (u32 i = 0; i < 5; i++) message(large_answered ? 6 : 4, 10ms + i * 67ms);
  const Ends others{.a = "10.0.0.7", .b = "10.0.0.8"};
  for (u32 i = 0; i < 10; i++)
    frames.add(others.send(i), i * 100ms).add(others.ack(i), i * 100ms + 1ms);
  return analyzed(frames);
}

Report pkeys(u16 one, u16 other) {
  Frames frames;
  for (u32 psn = 0; psn < 4; psn++) {
    Packet request = Ends{}.send(psn), answer = Ends{}.ack(psn);
    request.pkey = one;
    answer.pkey = other;
    frames.add(request, psn * 1ms).add(answer, psn * 1ms + 20us);
  }
  return analyzed(frames);
}

}  // namespace

Pairs path_pairs() {
  return {
      {.id = "path.one_way",
       .has = [] { return unanswered(true, false); },
       .has_not = [] { return unanswered(true, true); },
       .severity = "error",
       .scope = "half_flow 3",
       .count = 3,
       .first_frame = 6,
       .evidence = {{"psn", "5"}, {"tries", "4"}, {"source", "10.0.0.1"}},
       .says = {"PSN 5 was sent 4 times, and no packet ever came back"},
       .others = {"retry.exhausted", "loss.retransmission"},
       .others_without = {"path.responses_stopped", "retry.exhausted", "loss.retransmission"}},
      {.id = "path.one_way",
       .has = [] { return sample("blackhole.pcap"); },
       .has_not = [] { return unanswered(false, false); },  // only one way may have been captured
       .severity = "error",
       .scope = "half_flow 1",
       .count = 4,
       .first_frame = 25,
       .evidence = {{"psn", "12363693"}, {"tries", "5"}},
       .others = {"retry.exhausted", "loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "path.one_way",
       .has = [] { return unanswered(true, false, false, 3); },
       .has_not = [] { return unanswered(true, false, false, 2); },  // may be an accident
       .severity = "error",
       .scope = "half_flow 3",
       .count = 2,
       .first_frame = 6,
       .evidence = {{"tries", "3"}},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "path.responses_stopped",
       .has = [] { return lab("f_peer_exit.a.pcap"); },
       .has_not = [] { return unanswered(true, true, true); },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 4,
       .first_frame = 171,
       .evidence = {{"psn", "2421086"}, {"tries", "5"}, {"answered_until_ns", "342310611"}},
       .says = {"the last answer had come 0.342311 s into the trace"},
       .others = {"loss.retransmission"},
       .others_without = {"loss.retransmission"}},
      {.id = "path.gid_mismatch",
       .has = [] { return versions(2); },
       .has_not = [] { return versions(1); },
       .severity = "error",  // neither is answered
       .scope = "hosts 10.0.0.2 10.0.0.1",
       .count = 8,
       .first_frame = 1,
       .evidence = {{"v1_packets", "4"},
                    {"v2_packets", "4"},
                    {"v1_both_ways", "false"},
                    {"v2_both_ways", "false"}}},
      {.id = "path.gid_mismatch",  // two applications, each of which works
       .has =
           [] {
             Frames frames;
             for (u32 psn = 0; psn < 4; psn++) {
               const Ends one, other{.qp_a = 0x33, .qp_b = 0x44};
               Packet request = other.send(psn), answer = other.ack(psn);
               request.version = answer.version = 1;
               frames.add(one.send(psn), psn * 1ms).add(one.ack(psn), psn * 1ms + 20us);
               frames.add(request, psn * 1ms + 30us).add(answer, psn * 1ms + 50us);
             }
             return analyzed(frames);
           },
       .has_not = [] { return versions(2, "10.0.0.3"); },  // other hosts
       .severity = "warning",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 16,
       .first_frame = 1,
       .evidence = {{"v1_both_ways", "true"}, {"v2_both_ways", "true"}},
       .others_without = {"capture.one_direction"}},
      {.id = "path.ip_on_two_macs",
       .has = [] { return two_macs(64); },
       .has_not = [] { return two_macs(63); },  // before and behind a router
       .severity = "warning",
       .scope = "host 10.0.0.1",
       .count = 4,
       .first_frame = 1,
       .evidence = {{"address", "10.0.0.1"}},
       .says = {"10.0.0.1 sends from 2 MAC addresses"}},
      {.id = "path.ip_on_two_macs",
       .has = [] { return two_macs(64); },
       .has_not = damaged_mac,
       .severity = "warning",
       .scope = "host 10.0.0.1",
       .count = 4,
       .first_frame = 1,
       .others_without = {"loss.retransmission", "retransmission.spurious"}},
      {.id = "path.asymmetric",
       .has = [] { return answered_by(kOtherMac); },
       .has_not = [] { return answered_by(0); },
       .severity = "info",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 1,
       .evidence = {{"source_mac_back", "02:00:00:00:77:77"}}},
      {.id = "path.icmp_unreachable",
       .has = [] { return icmp(4791); },
       .has_not = [] { return icmp(53); },
       .severity = "error",
       .scope = "capture",
       .count = 1,
       .first_frame = 3,
       .evidence = {{"reason", "port unreachable"},
                    {"reporter", "192.0.2.1"},
                    {"source", "10.0.0.1"},
                    {"destination", "10.0.0.2"},
                    {"source_port", "49153"},
                    {"dest_qp", "34"}},
       .says = {"192.0.2.1 told 10.0.0.1 of its RoCE packets to 10.0.0.2: port unreachable"}},
      {.id = "path.mtu_mismatch",
       .has = [] { return mtus(4096, 1024, true); },
       .has_not = [] { return mtus(1024, 1024, false); },
       .severity = "error",
       .scope = "half_flow 2",
       .count = 1,
       .first_frame = 5,
       .evidence = {{"mtu", "1024"}, {"other_mtu", "4096"}, {"nak_frame", "8"}},
       .says = {"1024 bytes this way, and of 4096", "refused it in frame 8"},
       .others = {"nak.invalid_request"}},
      {.id = "path.mtu_blackhole",
       .has = [] { return large_ones(true, false); },
       .has_not = [] { return large_ones(true, true); },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 4,
       .first_frame = 13,
       .evidence = {{"psn", "4"}, {"wire_size", "4154"}, {"path_mtu", "4096"}},
       .says = {"a frame of 4154 bytes", "while smaller packets were answered"},
       .others = {"retry.exhausted", "path.responses_stopped", "loss.retransmission"},
       .others_without = {"retry.exhausted", "path.responses_stopped", "loss.retransmission"}},
      {.id = "path.mtu_blackhole",
       .has = [] { return large_ones(true, false); },
       .has_not = [] { return large_ones(false, false); },  // small ones were not tried
       .severity = "error",
       .scope = "half_flow 1",
       .count = 4,
       .first_frame = 13,
       .others = {"retry.exhausted", "path.responses_stopped", "loss.retransmission"},
       .others_without = {"path.one_way", "retry.exhausted", "loss.retransmission"}},
      {.id = "path.pkey_mismatch",
       .has = [] { return pkeys(0xffff, 0x8001); },
       .has_not = [] { return pkeys(0xffff, 0x7fff); },  // a full and a limited member
       .severity = "error",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 1,
       .evidence = {{"pkey", "65535"}, {"pkey_back", "32769"}}},
      {.id = "path.pkey_mismatch",
       .has = [] { return pkeys(0x7fff, 0x7fff); },  // two limited members
       .has_not = [] { return pkeys(0x8001, 0x8001); },
       .severity = "error",
       .scope = "half_flow 1",
       .count = 1,
       .first_frame = 1},
  };
}

}  // namespace rocetrace::test
