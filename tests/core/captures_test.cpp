// SPDX-License-Identifier: BSD-3-Clause
// Real packets: the lab's captures against their independent counts, and frames that others
// published. Skipped where these files are not.

#include <gtest/gtest.h>

#include <map>

#include "roce/roce.hpp"
#include "support/captures.hpp"

namespace roce {
namespace {

using net::Sighting;
using test::CapturedFrame;
using test::PcapFile;

const std::filesystem::path kCaptures = ROCETRACE_SHARED_DIR "/captures";

std::string service_and_operation(u8 opcode) {
  return std::string(opcode_info(opcode).service) + " " + std::string(opcode_info(opcode).name);
}

struct Counts {
  std::size_t roce = 0, icrc_good = 0, icrc_bad = 0, icrc_not_captured = 0;
  std::map<u8, std::size_t> ecn;
};

Counts count(const PcapFile& file) {
  Counts counts;
  net::AddressTable addresses;
  for (const CapturedFrame& frame : file.frames()) {
    flow::Observation seen;
    net::Located at;
    const Bytes bytes = file.bytes(frame);
    if (net::observe_frame(bytes, frame.wire_size, file.link_type(), addresses, seen, at) !=
        Sighting::roce) {
      continue;
    }
    EXPECT_FALSE(seen.has(flow::kUndecoded)) << service_and_operation(seen.opcode);
    counts.roce++;
    counts.ecn[seen.ecn()]++;
    switch (check_icrc(bytes, at)) {
      case IcrcCheck::good: counts.icrc_good++; break;
      case IcrcCheck::bad: counts.icrc_bad++; break;
      case IcrcCheck::not_captured: counts.icrc_not_captured++; break;
    }
  }
  return counts;
}

TEST(LabCaptures, CountsEqualThoseOfAnIndependentReader) {
  const auto expectations = test::files_in(kCaptures / "lab", ".expect.json");
  if (expectations.empty()) GTEST_SKIP() << "no captures in " << kCaptures;
  for (const auto& path : expectations) {
    const auto expected = test::read_json(path);
    for (const auto& [name, file] : expected["files"].items()) {
      const auto capture = kCaptures / "lab" / name;
      if (!std::filesystem::exists(capture)) continue;
      const Counts counts = count(PcapFile(capture));
      EXPECT_EQ(counts.roce, file["roce"]) << name;
      EXPECT_EQ(counts.icrc_good, file["icrc"].value("ok", 0u)) << name;
      EXPECT_EQ(counts.icrc_bad, file["icrc"].value("bad", 0u)) << name;
      EXPECT_EQ(counts.icrc_not_captured, file["icrc"].value("truncated", 0u)) << name;
      EXPECT_EQ(counts.ecn.contains(3) ? counts.ecn.at(3) : 0, file["ecn"].value("CE", 0u)) << name;
    }
  }
}

void expect_same(Bytes frame, u32 wire_size) {
  net::AddressTable fast_addresses, slow_addresses;
  flow::Observation fast, slow;
  net::Located fast_at, slow_at;
  if (!net::observe_quickly(frame, wire_size, fast_addresses, fast, fast_at)) return;
  ASSERT_EQ(net::observe_slowly(frame, wire_size, 1, slow_addresses, slow, slow_at),
            Sighting::roce);
  ASSERT_EQ(fast, slow);
  ASSERT_EQ(fast_at, slow_at);
}

TEST(LabCaptures, FastEqualsSlowCutAndChanged) {
  const auto captures = test::files_in(kCaptures / "lab", ".pcap");
  if (captures.empty()) GTEST_SKIP() << "no captures in " << kCaptures;
  u32 random = 1;
  for (const auto& path : captures) {
    const PcapFile file(path);
    if (file.link_type() != 1) continue;
    for (const CapturedFrame& frame : file.frames()) {
      const Bytes bytes = file.bytes(frame);
      expect_same(bytes, frame.wire_size);
      random = random * 1664525 + 1013904223;
      std::vector<u8> changed(bytes.begin(), bytes.end());
      changed[(random >> 16) % std::min<std::size_t>(changed.size(), 80)] ^=
          static_cast<u8>(1u << (random >> 8 & 7));
      expect_same(changed, frame.wire_size);
      expect_same(bytes.first((random >> 12) % (bytes.size() + 1)), frame.wire_size);
    }
  }
}

// Reading past a cut or believing a lying length would be found by the sanitizers; a plain build
// finds what depends on them.
TEST(LabCaptures, EveryCutAndEveryFlippedByteIsSurvived) {
  for (const char* name :
       {"g_vxlan_send.a.pcap", "g_v6_send_loss2.a.pcap", "q_any_cooked.bany.pcap",
        "g_vlan_write_loss3.a.pcap", "d_atomic_fadd.a.pcap"}) {
    if (!std::filesystem::exists(kCaptures / "lab" / name)) GTEST_SKIP() << "no " << name;
    const PcapFile file(kCaptures / "lab" / name);
    net::AddressTable addresses;
    std::array<bool, 256> done{};
    for (const CapturedFrame& frame : file.frames()) {
      flow::Observation seen;
      net::Located at;
      const Bytes bytes = file.bytes(frame);
      const u16 link_type = file.link_type();
      if (net::observe_frame(bytes, frame.wire_size, link_type, addresses, seen, at) !=
          Sighting::roce) {
        continue;
      }
      if (std::exchange(done[seen.opcode], true)) continue;
      for (std::size_t size = 0; size < bytes.size(); size++) {
        // A copy of just these bytes, so that one beyond them is not there.
        const std::vector<u8> cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
        if (net::observe_frame(cut, frame.wire_size, link_type, addresses, seen, at) ==
            Sighting::roce) {
          EXPECT_EQ(check_icrc(cut, at), IcrcCheck::not_captured);
        }
      }
      std::vector<u8> changed(bytes.begin(), bytes.end());
      for (u8& byte : changed) {
        const u8 before = byte;
        for (unsigned flip : {0x01u, 0x80u, 0xffu}) {
          byte = static_cast<u8>(before ^ flip);
          if (net::observe_frame(changed, frame.wire_size, link_type, addresses, seen, at) ==
              Sighting::roce) {
            check_icrc(changed, at);
          }
        }
        byte = before;
      }
    }
  }
}

// --- frames published by others

/// "0x1f ACK, credit 31", "0x81 CNP", 17 or "dafc1bef": the number it begins with.
u64 number(const nlohmann::json& value) {
  if (value.is_number()) return value.get<u64>();
  const std::string text = value.get<std::string>();
  const bool prefixed = text.starts_with("0x");
  return std::stoull(text, nullptr, prefixed ? 0 : 16);
}

void compare(const nlohmann::json& expected, Bytes frame, const RocePacket& packet,
             const flow::Observation& seen, const net::Located& at) {
  const auto same = [&](const char* name, u64 value) {
    if (expected.contains(name)) {
      EXPECT_EQ(value, number(expected[name])) << name;
    }
  };
  const Bth& bth = packet.bth();
  same("opcode", bth.opcode);
  same("dqp", bth.dest_qp);
  same("psn", bth.psn);
  same("ackreq", bth.ack_requested());
  same("fecn", bth.fecn());
  same("becn", bth.becn());
  same("pkey", bth.pkey);
  same("pad", bth.pad_count());
  same("udp_sport", seen.source_port);
  same("tos", seen.tos);
  same("tclass", seen.tos);
  same("syndrome", seen.syndrome());
  same("msn", seen.aeth & 0xff'ffff);
  same("reth_len", seen.dma_length);
  if (const auto reth = packet.get<Reth>()) same("reth_va", reth->va);
  if (seen.version == 1) same("grh_paylen", at.bth_size);
  same("icrc_wire", packet.icrc().value_or(0));
  if (expected.contains("flowlabel")) {
    const Grh ip = *read<Grh>(frame.subspan(at.network_offset));
    EXPECT_EQ(ip.flow_label(), number(expected["flowlabel"]));
  }
  if (expected.contains("payload") && seen.opcode != kCnpOpcode) {
    const std::string text = expected["payload"];
    if (text.find(' ') == std::string::npos) {
      const std::vector<u8> payload = test::from_hex(text);
      EXPECT_TRUE(std::ranges::equal(packet.payload(), payload));
    }
  }
}

TEST(PublishedFrames, HaveTheFieldsAndIcrcThatWereStated) {
  const auto vectors = test::read_json(kCaptures / "public" / "vectors.json");
  if (vectors.is_null()) GTEST_SKIP() << "no captures in " << kCaptures;
  for (const auto& vector : vectors) {
    const std::string name = vector["name"];
    SCOPED_TRACE(name);
    const std::vector<u8> frame = test::from_hex(vector["hex"]);
    const u16 link_type = vector["layer"] == "eth" ? 1 : 101;
    net::AddressTable addresses;
    flow::Observation seen;
    net::Located at;
    const Sighting sighting =
        net::observe_frame(frame, static_cast<u32>(frame.size()), link_type, addresses, seen, at);
    // Port 4791 is this one's source alone: a direction in which no RoCEv2 packet goes.
    if (name == "rtl_ack_nonstandard") {
      EXPECT_EQ(sighting, Sighting::not_roce);
      continue;
    }
    ASSERT_EQ(sighting, Sighting::roce);
    const auto packet = RocePacket::decode(Bytes(frame).subspan(at.bth_offset), at.bth_size);
    compare(vector["expected"], frame, packet, seen, at);
    if (vector["expected"].value("vxlan", false)) {
      EXPECT_TRUE(seen.has(flow::kHasVlan));
    }
    const auto& independent = vector["icrc_independent"];
    const bool stated = independent.is_object() && independent["ok"].is_boolean();
    const IcrcCheck check = check_icrc(frame, at);
    if (stated) {
      EXPECT_EQ(check == IcrcCheck::good, independent["ok"].get<bool>());
    } else {
      EXPECT_EQ(check, IcrcCheck::not_captured);
    }
  }
}

TEST(PublishedCaptures, Decode) {
  const struct {
    const char* name;
    std::size_t roce;
  } captures[] = {
      {"ud_send_ipv6.cap", 2000}, {"cm_write_read_a.pcap", 12}, {"cm_write_read_b.pcap", 12}};
  for (const auto& [name, roce] : captures) {
    const auto path = kCaptures / "public" / name;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path;
    const Counts counts = count(PcapFile(path));
    EXPECT_EQ(counts.roce, roce) << name;
    EXPECT_EQ(counts.icrc_good, roce) << name;
  }
}

}  // namespace
}  // namespace roce
