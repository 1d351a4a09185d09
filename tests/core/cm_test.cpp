// SPDX-License-Identifier: BSD-3-Clause
// Messages of the communication manager, made by hand, cut, and from the lab's captures.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "roce/cm_message.hpp"
#include "roce/net/observe.hpp"
#include "support/captures.hpp"
#include "support/packet.hpp"

namespace roce {
namespace {

using test::Buffer;
using test::put_at;

/// A message with zeros for data.
Buffer mad(CmKind kind) {
  Buffer out(sizeof(Mad) + kCmDataSize);
  out[0] = kMadBaseVersion;
  out[1] = kCmClass;
  out[2] = kCmClassVersion;
  out[3] = 3;  // Send
  put_at(out, 8, 0x1122334455667788, 8);
  put_at(out, 16, static_cast<u16>(kind), 2);
  return out;
}
/// Writes at an offset into the data.
void put_data(Buffer& out, std::size_t at, u64 value, std::size_t bytes) {
  put_at(out, sizeof(Mad) + at, value, bytes);
}

Buffer request() {
  Buffer out = mad(CmKind::req);
  put_data(out, 0, 0xaaaa0001, 4);
  put_data(out, 8, 0x0000'0000'0106'4567, 8);
  put_data(out, 32, 0x000123, 3);
  put_data(out, 35, 16, 1);
  put_data(out, 39, 4, 1);
  put_data(out, 44, 0xabcdef, 3);
  put_data(out, 47, 0xa0 | 7, 1);
  put_data(out, 48, 0xffff, 2);
  put_data(out, 50, 0x50 | 6, 1);
  put_data(out, 56, 0xfe80, 2);
  put_data(out, 71, 1, 1);
  put_data(out, 72, 0xfe80, 2);
  put_data(out, 87, 2, 1);
  put_data(out, 95, 14 << 3, 1);
  put_data(out, 140 + 1, 0x40, 1);
  put_data(out, 140 + 2, 50000, 2);
  put_data(out, 140 + 4 + 12, 0x0a000001, 4);
  put_data(out, 140 + 20 + 12, 0x0a000002, 4);
  return out;
}

TEST(CmMessage, ARequestDecodes) {
  const auto message = decode_cm(request());
  ASSERT_TRUE(message);
  EXPECT_EQ(message->kind, CmKind::req);
  EXPECT_EQ(message->transaction, 0x1122334455667788u);
  EXPECT_EQ(message->local_comm_id, 0xaaaa0001u);
  EXPECT_FALSE(message->remote_comm_id);
  EXPECT_EQ(message->local_qpn, 0x123u);
  EXPECT_EQ(message->starting_psn, 0xabcdefu);
  EXPECT_EQ(message->responder_resources, 16);
  EXPECT_EQ(message->initiator_depth, 4);
  EXPECT_EQ(message->retry_count, 7);
  EXPECT_EQ(message->rnr_retry_count, 6);
  EXPECT_EQ(message->path_mtu, 4096);
  EXPECT_EQ(message->ack_timeout, 14);
  EXPECT_EQ(message->local_gid->text().view(), "fe80::1");
  EXPECT_EQ(message->remote_gid->text().view(), "fe80::2");
  ASSERT_TRUE(message->ip);
  EXPECT_EQ(message->ip->source_port, 50000);
  EXPECT_EQ(message->ip->destination_port, 0x4567);
  EXPECT_EQ(message->ip->source.text().view(), "10.0.0.1");
  EXPECT_EQ(message->ip->destination.text().view(), "10.0.0.2");
}

TEST(CmMessage, ACutRequestKeepsWhatWasCaptured) {
  const Buffer whole = request();
  for (std::size_t size = 0; size <= whole.size(); size++) {
    const Buffer cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto message = decode_cm(cut);
    ASSERT_EQ(message.has_value(), size >= sizeof(Mad)) << size;
    if (!message) continue;
    EXPECT_EQ(message->local_qpn.has_value(), size >= sizeof(Mad) + 35) << size;
    EXPECT_EQ(message->starting_psn.has_value(), size >= sizeof(Mad) + 47) << size;
    EXPECT_EQ(message->ack_timeout.has_value(), size >= sizeof(Mad) + 96) << size;
    EXPECT_EQ(message->ip.has_value(), size >= sizeof(Mad) + 140 + 36) << size;
  }
}

TEST(CmMessage, AReplyDecodes) {
  Buffer out = mad(CmKind::rep);
  put_data(out, 0, 1, 4);
  put_data(out, 4, 2, 4);
  put_data(out, 12, 0x456, 3);
  put_data(out, 20, 0x123456, 3);
  put_data(out, 27, 5 << 5, 1);
  const auto message = decode_cm(out);
  ASSERT_TRUE(message);
  EXPECT_EQ(message->local_comm_id, 1u);
  EXPECT_EQ(message->remote_comm_id, 2u);
  EXPECT_EQ(message->local_qpn, 0x456u);
  EXPECT_EQ(message->starting_psn, 0x123456u);
  EXPECT_EQ(message->rnr_retry_count, 5);
  EXPECT_FALSE(message->service_id);
}

TEST(CmMessage, ARejectSaysWhy) {
  Buffer out = mad(CmKind::rej);
  put_data(out, 10, 8, 2);
  const auto message = decode_cm(out);
  EXPECT_EQ(message->reason, 8);
  EXPECT_EQ(message->rejected, 0);
  EXPECT_EQ(reject_reason(*message->reason), "invalid service ID: nobody listens");
  EXPECT_EQ(reject_reason(0), "");
  EXPECT_EQ(reject_reason(999), "");
}

TEST(CmMessage, OffsetsAreThoseOfTheSpecification) {
  const auto offset = [](CmKind kind, std::string_view abbrev) {
    return find_field(find_cm_info(static_cast<u16>(kind))->fields, abbrev)->at / 8;
  };
  EXPECT_EQ(offset(CmKind::req, "private"), 140u);
  EXPECT_EQ(offset(CmKind::req, "remotegid"), 72u);
  EXPECT_EQ(offset(CmKind::req, "acktimeout"), 95u);
  EXPECT_EQ(offset(CmKind::req, "altacktimeout"), 139u);
  EXPECT_EQ(offset(CmKind::mra, "private"), 10u);
  EXPECT_EQ(offset(CmKind::rej, "info"), 12u);
  EXPECT_EQ(offset(CmKind::rej, "private"), 84u);
  EXPECT_EQ(offset(CmKind::rep, "private"), 36u);
  EXPECT_EQ(offset(CmKind::dreq, "remoteqpn"), 8u);
  EXPECT_EQ(offset(CmKind::sidr_req, "private"), 16u);
  EXPECT_EQ(offset(CmKind::sidr_rep, "localqpn"), 8u);
  EXPECT_EQ(offset(CmKind::sidr_rep, "private"), 96u);
  EXPECT_EQ(offset(CmKind::lap, "remoteqpn"), 12u);
  EXPECT_EQ(offset(CmKind::lap, "private"), 64u);
  EXPECT_EQ(offset(CmKind::apr, "private"), 84u);
}

TEST(CmMessage, OtherDatagramsAreNotTheManagers) {
  Buffer out = request();
  out[1] = 3;  // subnet administration
  EXPECT_FALSE(decode_cm(out));
  out = request();
  put_at(out, 16, 0x99, 2);
  EXPECT_FALSE(decode_cm(out));
}

TEST(CmMessage, OnlyQueuePairOneIsAsked) {
  test::Packet packet = {.opcode = 0x64, .dest_qp = 1, .payload_size = 256, .qkey = kCmQkey};
  Buffer bytes = packet.transport();
  const Buffer message = request();
  std::ranges::copy(message, bytes.begin() + sizeof(Bth) + sizeof(Deth));
  EXPECT_TRUE(decode_cm(RocePacket::decode(bytes, bytes.size())));
  bytes[7] = 2;
  EXPECT_FALSE(decode_cm(RocePacket::decode(bytes, bytes.size())));
}

const std::filesystem::path kLab = ROCETRACE_SHARED_DIR "/captures/lab";

std::vector<CmMessage> messages(const std::filesystem::path& path) {
  std::vector<CmMessage> out;
  const test::PcapFile file(path);
  net::AddressTable addresses;
  for (const auto& frame : file.frames()) {
    flow::Observation seen;
    net::Located at;
    const Bytes bytes = file.bytes(frame);
    if (net::observe_frame(bytes, frame.wire_size, file.link_type(), addresses, seen, at) !=
        net::Sighting::roce) {
      continue;
    }
    const auto packet = RocePacket::decode(bytes.subspan(at.bth_offset), at.bth_size);
    if (const auto message = decode_cm(packet)) out.push_back(*message);
  }
  return out;
}

TEST(CmMessage, TheLabsConnectionsHaveTheQueuePairsOfTheKernelsTable) {
  if (!std::filesystem::exists(kLab / "a12_rc_send_cm.a.pcap")) GTEST_SKIP() << "no " << kLab;
  for (const char* name : {"a12_rc_send_cm", "a13_rc_write_cm_4qp"}) {
    const auto expected = test::read_json(kLab / (std::string(name) + ".expect.json"));
    std::map<u32, u32> requested;
    std::set<std::pair<u32, u32>> connected;
    for (const CmMessage& message : messages(kLab / (std::string(name) + ".a.pcap"))) {
      if (message.kind == CmKind::req) requested[*message.local_comm_id] = *message.local_qpn;
      if (message.kind == CmKind::rep) {
        connected.insert({requested.at(*message.remote_comm_id), *message.local_qpn});
      }
    }
    for (const auto& pair : expected["qp_pairs_a_b"]) {
      const u32 a = pair[0], b = pair[1];
      EXPECT_TRUE(connected.contains({a, b})) << name << ": " << a << " and " << b;
    }
  }
}

TEST(CmMessage, ARequestOfTheLabNamesItsAddresses) {
  if (!std::filesystem::exists(kLab / "a12_rc_send_cm.a.pcap")) GTEST_SKIP() << "no " << kLab;
  const auto all = messages(kLab / "a12_rc_send_cm.a.pcap");
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().kind, CmKind::req);
  ASSERT_TRUE(all.front().ip);
  EXPECT_EQ(all.front().ip->source.text().view(), "10.0.0.1");
  EXPECT_EQ(all.front().ip->destination.text().view(), "10.0.0.2");
  EXPECT_TRUE(all.front().path_mtu);
}

TEST(CmMessage, ARejectOfTheLabSaysWhy) {
  if (!std::filesystem::exists(kLab / "g_cm_reject.a.pcap")) GTEST_SKIP() << "no " << kLab;
  std::size_t rejects = 0;
  for (const CmMessage& message : messages(kLab / "g_cm_reject.a.pcap")) {
    if (message.kind != CmKind::rej) continue;
    rejects++;
    EXPECT_NE(reject_reason(*message.reason), "");
  }
  EXPECT_GT(rejects, 0u);
}

}  // namespace
}  // namespace roce
