// SPDX-License-Identifier: BSD-3-Clause
// observe_frame(): what it fills in, what it refuses, and that its fast way agrees with its slow.

#include "roce/net/observe.hpp"

#include <gtest/gtest.h>

#include "roce/icrc.hpp"
#include "support/packet.hpp"

namespace roce::net {
namespace {

using flow::Observation;
using test::Buffer;
using test::Packet;

struct Seen {
  Sighting sighting{};
  Observation packet;
  Located at;
  AddressTable addresses;
};

Seen see(Bytes frame, std::size_t wire_size, u16 link_type = 1) {
  Seen seen;
  seen.sighting = observe_frame(frame, static_cast<u32>(wire_size), link_type, seen.addresses,
                                seen.packet, seen.at);
  return seen;
}
Seen see(const Buffer& frame, u16 link_type = 1) {
  return see(frame, frame.size(), link_type);
}

TEST(Observe, ARequestOverIpv4) {
  const Seen seen = see(Packet{
      .opcode = 0x0a,
      .dest_qp = 0x123456,
      .psn = 0xabcdef,
      .payload_size = 1021,
      .ack_requested = true,
      .solicited = true,
      .dma_length = 4000,
      .tos = 0x6a,
      .ttl = 63,
      .ip_id = 0x1234,
      .source_port = 0xc123,
      .vlans = {0x6064}}.frame());
  ASSERT_EQ(seen.sighting, Sighting::roce);
  const Observation& p = seen.packet;
  EXPECT_EQ(p.source, 0x0a000001u);
  EXPECT_EQ(p.destination, 0x0a000002u);
  EXPECT_EQ(p.dest_qp, 0x123456u);
  EXPECT_EQ(p.psn, 0xabcdefu);
  EXPECT_EQ(p.payload_size, 1021u);
  EXPECT_EQ(p.wire_size, 14u + 4 + 20 + 8 + 12 + 16 + 1024 + 4);
  EXPECT_EQ(p.dma_length, 4000u);
  EXPECT_EQ(p.ip_id, 0x1234);
  EXPECT_EQ(p.source_port, 0xc123);
  EXPECT_EQ(p.vlan, 0x6064);
  EXPECT_EQ(p.opcode, 0x0a);
  EXPECT_EQ(p.version, 2);
  EXPECT_EQ(p.dscp(), 26);
  EXPECT_EQ(p.ecn(), 2);
  EXPECT_EQ(p.ttl, 63);
  EXPECT_EQ(p.flags, flow::kAckRequested | flow::kSolicited | flow::kHasDmaLength | flow::kHasIcrc |
                         flow::kHasIpId | flow::kHasVlan | flow::kHasSourcePort);
}

TEST(Observe, AnAcknowledgeOverIpv6) {
  Seen seen = see(Packet{.opcode = 0x11,
                         .syndrome = 0x60,
                         .msn = 5,
                         .source = "fe80::1",
                         .destination = "fe80::2",
                         .tos = 0xc3}
                      .frame());
  ASSERT_EQ(seen.sighting, Sighting::roce);
  EXPECT_TRUE(seen.packet.has(flow::kHasAeth));
  EXPECT_EQ(seen.packet.syndrome(), 0x60);
  EXPECT_EQ(seen.packet.aeth & 0xffffff, 5u);
  EXPECT_EQ(seen.packet.tos, 0xc3);
  EXPECT_FALSE(seen.packet.has(flow::kHasIpId));
  EXPECT_EQ(seen.addresses.address(seen.packet.source), test::address("fe80::1"));
  EXPECT_EQ(seen.addresses.address(seen.packet.destination), test::address("fe80::2"));
}

TEST(Observe, RoceV1) {
  Seen seen = see(Packet{
      .opcode = 0x0c, .payload_size = 0, .dma_length = 99, .version = 1, .tos = 0x40, .ttl = 1}
                      .frame());
  ASSERT_EQ(seen.sighting, Sighting::roce);
  EXPECT_EQ(seen.packet.version, 1);
  EXPECT_EQ(seen.packet.tos, 0x40);
  EXPECT_EQ(seen.packet.dma_length, 99u);
  EXPECT_FALSE(seen.packet.has(flow::kHasSourcePort));
  EXPECT_EQ(seen.addresses.address(seen.packet.source).text().view(), "::ffff:10.0.0.1");
}

TEST(Observe, ADatagramNamesItsSender) {
  const Seen seen = see(Packet{.opcode = 0x64, .payload_size = 256, .source_qp = 1}.frame());
  EXPECT_EQ(seen.packet.source_qp, 1u);
  EXPECT_EQ(seen.packet.payload_size, 256u);
}

TEST(Observe, ACnpHasNoPayload) {
  const Seen seen = see(Packet{.opcode = kCnpOpcode, .dest_qp = 7, .becn = true}.frame());
  ASSERT_EQ(seen.sighting, Sighting::roce);
  EXPECT_EQ(seen.packet.payload_size, 0u);
  EXPECT_TRUE(seen.packet.has(flow::kBecn));
}

TEST(Observe, EthernetPaddingIsNotPayload) {
  const Seen seen = see(Packet{.opcode = 0x11, .trailer = 20}.frame());
  EXPECT_EQ(seen.packet.payload_size, 0u);
  EXPECT_TRUE(seen.packet.has(flow::kHasIcrc));
}

TEST(Observe, ACutFrameKnowsItsLengths) {
  const Buffer frame = Packet{.opcode = 0x06, .payload_size = 1024, .dma_length = 5000}.frame();
  const Seen seen = see(Bytes(frame).first(70), frame.size());
  ASSERT_EQ(seen.sighting, Sighting::roce);
  EXPECT_EQ(seen.packet.payload_size, 1024u);
  EXPECT_EQ(seen.packet.dma_length, 5000u);
  EXPECT_TRUE(seen.packet.has(flow::kTruncated));
  EXPECT_FALSE(seen.packet.has(flow::kHasIcrc));
  EXPECT_EQ(seen.packet.wire_size, frame.size());
}

TEST(Observe, AMirrorThatTruncatesDoesNotShortenThePacket) {
  Buffer frame = Packet{.opcode = 0x06, .payload_size = 1024}.frame();
  frame.resize(96);
  EXPECT_EQ(see(frame).packet.payload_size, 1024u);
}

TEST(Observe, ACutBeforeTheBthIsUndecoded) {
  const Buffer frame = Packet{.payload_size = 100}.frame();
  EXPECT_EQ(see(Bytes(frame).first(53), frame.size()).sighting, Sighting::undecoded);
  EXPECT_EQ(see(Bytes(frame).first(42), frame.size()).sighting, Sighting::undecoded);
  EXPECT_EQ(see(Bytes(frame).first(38), frame.size()).sighting, Sighting::undecoded);
  EXPECT_EQ(see(Bytes(frame).first(37), frame.size()).sighting, Sighting::not_roce);
}

TEST(Observe, ALaterFragmentIsUndecoded) {
  Buffer frame = Packet{.payload_size = 100}.frame();
  test::put_at(frame, 14 + 6, 0x0010, 2);
  EXPECT_EQ(see(frame).sighting, Sighting::undecoded);
}

TEST(Observe, AFirstFragmentIsTruncated) {
  Buffer frame = Packet{.payload_size = 1000}.frame();
  test::put_at(frame, 14 + 6, 0x2000, 2);
  test::put_at(frame, 14 + 2, 20 + 480, 2);
  const Seen seen = see(frame);
  ASSERT_EQ(seen.sighting, Sighting::roce);
  EXPECT_EQ(seen.packet.payload_size, 1000u);
  EXPECT_TRUE(seen.packet.has(flow::kTruncated));
  EXPECT_FALSE(seen.packet.has(flow::kHasIcrc));
}

TEST(Observe, AnUnknownOpcodeIsRoceThatStopsAtTheBth) {
  const Seen seen = see(Packet{.opcode = 0x15, .psn = 9, .payload_size = 16}.frame());
  ASSERT_EQ(seen.sighting, Sighting::roce);
  EXPECT_TRUE(seen.packet.has(flow::kUndecoded));
  EXPECT_EQ(seen.packet.psn, 9u);
  EXPECT_EQ(seen.packet.payload_size, 0u);
}

TEST(Observe, ASegmentationOffloadLengthOfZeroMeansTheFrame) {
  Buffer frame = Packet{.payload_size = 256}.frame();
  test::put_at(frame, 14 + 2, 0, 2);
  EXPECT_EQ(see(frame).packet.payload_size, 256u);
  test::put_at(frame, 14 + 20 + 4, 0, 2);
  EXPECT_EQ(see(frame).packet.payload_size, 256u);
}

TEST(Observe, APacketCapturedBeforeItsIcrcIsRoce) {
  Buffer frame = Packet{.opcode = 0x11, .syndrome = 0x1f}.frame();
  frame.resize(frame.size() - 4);
  test::put_at(frame, 14 + 2, frame.size() - 14, 2);
  test::put_at(frame, 14 + 20 + 4, frame.size() - 34, 2);
  const Seen seen = see(frame);
  ASSERT_EQ(seen.sighting, Sighting::roce);
  EXPECT_TRUE(seen.packet.has(flow::kHasAeth));
  EXPECT_FALSE(seen.packet.has(flow::kHasIcrc));
  EXPECT_EQ(check_icrc(frame, seen.at), IcrcCheck::not_captured);
}

/// An Ethernet frame with `payload` as a datagram to port 4791.
Buffer datagram(const Buffer& payload) {
  Buffer frame = Packet{}.frame();
  frame.resize(14 + 20 + 8);
  test::put(frame, payload);
  test::put_at(frame, 14 + 2, 20 + 8 + payload.size(), 2);
  test::put_at(frame, 14 + 20 + 4, 8 + payload.size(), 2);
  return frame;
}

TEST(Observe, ADnsReplyOnThePortIsNotRoce) {
  // Transaction 0x1a2b: as an opcode unassigned, as flags a header version that does not exist.
  Buffer reply = {0x1a, 0x2b, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0, 3, 'w', 'w', 'w', 0, 0, 1, 0, 1};
  EXPECT_EQ(see(datagram(reply)).sighting, Sighting::not_roce_on_4791);
  reply[0] = 0x04, reply[1] = 0x00;  // looks like a SEND Only, but for its length
  EXPECT_EQ(see(datagram(reply)).sighting, Sighting::not_roce_on_4791);
}

TEST(Observe, WhatIsTooShortIsNotRoce) {
  EXPECT_EQ(see(datagram({1, 2, 3, 4})).sighting, Sighting::not_roce_on_4791);
  EXPECT_EQ(see(datagram({})).sighting, Sighting::not_roce_on_4791);
  // A WRITE First needs its RETH.
  EXPECT_EQ(see(datagram({6, 0, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0})).sighting,
            Sighting::not_roce_on_4791);
}

TEST(Observe, AVersionThatDoesNotExistIsNotRoce) {
  EXPECT_EQ(see(Packet{.payload_size = 64, .transport_version = 1}.frame()).sighting,
            Sighting::not_roce_on_4791);
}

TEST(Observe, AnotherPortIsNotRoce) {
  EXPECT_EQ(see(Packet{.destination_port = 4792}.frame()).sighting, Sighting::not_roce);
}

// --- the fast way and the slow

void expect_same(Bytes frame, std::size_t wire_size) {
  AddressTable fast_addresses, slow_addresses;
  Observation fast, slow;
  Located fast_at, slow_at;
  const u32 size = static_cast<u32>(wire_size);
  if (!observe_quickly(frame, size, fast_addresses, fast, fast_at)) {
    EXPECT_EQ(fast, Observation{});
    return;
  }
  ASSERT_EQ(observe_slowly(frame, size, 1, slow_addresses, slow, slow_at), Sighting::roce);
  ASSERT_EQ(fast, slow);
  ASSERT_EQ(fast_at, slow_at);
  ASSERT_EQ(fast_addresses.address(fast.source), slow_addresses.address(slow.source));
}

std::vector<Buffer> shapes() {
  std::vector<Buffer> out;
  for (unsigned opcode : {0x00u, 0x0au, 0x0bu, 0x0cu, 0x11u, 0x12u, 0x13u, 0x64u, 0x81u, 0x4bu}) {
    Packet packet = {.opcode = static_cast<u8>(opcode), .psn = 5, .payload_size = 33};
    out.push_back(packet.frame());
    packet.vlans = {0x2064};
    out.push_back(packet.frame());
    packet.source = "2001:db8::1", packet.destination = "2001:db8::2";
    out.push_back(packet.frame());
    packet.vlans = {};
    out.push_back(packet.frame());
    packet.version = 1;
    out.push_back(packet.frame());
  }
  return out;
}

TEST(Observe, TheFastWayTakesTheUsualShapes) {
  AddressTable addresses;
  Observation seen;
  Located at;
  for (const Packet& packet :
       {Packet{}, Packet{.vlans = {5}}, Packet{.source = "fe80::1", .destination = "fe80::2"}}) {
    const Buffer frame = packet.frame();
    EXPECT_TRUE(observe_quickly(frame, static_cast<u32>(frame.size()), addresses, seen, at));
  }
}

TEST(Observe, FastEqualsSlowAtEveryCut) {
  for (const Buffer& frame : shapes()) {
    for (std::size_t size = 0; size <= frame.size(); size++) {
      expect_same(Bytes(frame).first(size), frame.size());
      expect_same(Bytes(frame).first(size), size);
    }
  }
}

TEST(Observe, FastEqualsSlowWithEveryByteChanged) {
  for (const Buffer& frame : shapes()) {
    for (std::size_t i = 0; i < frame.size(); i++) {
      for (unsigned bit = 0; bit < 8; bit++) {
        Buffer changed = frame;
        changed[i] = static_cast<u8>(changed[i] ^ 1u << bit);
        expect_same(changed, changed.size());
      }
    }
  }
}

}  // namespace
}  // namespace roce::net
