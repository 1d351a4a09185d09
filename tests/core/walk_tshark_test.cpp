// SPDX-License-Identifier: BSD-3-Clause
// The walk against Wireshark: wherever tshark finds a BTH in one of the encapsulations, it finds
// the same. Skipped where there is no tshark.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "roce/net/observe.hpp"
#include "support/encapsulations.hpp"

namespace roce::net {
namespace {

using test::Buffer;
using test::Encapsulation;
using test::put;

/// Appends a number as pcapng wants it, least significant byte first.
void put_little(Buffer& out, u64 value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i++) out.push_back(static_cast<u8>(value >> 8 * i));
}
void put_block(Buffer& out, u32 type, Buffer body) {
  body.resize((body.size() + 3) / 4 * 4);
  const u64 size = body.size() + 12;
  put_little(out, type, 4);
  put_little(out, size, 4);
  put(out, body);
  put_little(out, size, 4);
}

/// A pcapng file with an interface for each frame, since each may have its own link type.
Buffer pcapng(const std::vector<Encapsulation>& all) {
  Buffer out, section;
  put_little(section, 0x1a2b3c4d, 4);
  put_little(section, 1, 4);
  put_little(section, ~u64{0}, 8);
  put_block(out, 0x0a0d0d0a, section);
  for (const Encapsulation& one : all) {
    Buffer interface;
    put_little(interface, one.link_type, 8);
    put_block(out, 1, interface);
  }
  for (std::size_t i = 0; i < all.size(); i++) {
    Buffer packet;
    put_little(packet, i, 4);
    put_little(packet, 0, 8);
    put_little(packet, all[i].frame.size(), 4);
    put_little(packet, all[i].frame.size(), 4);
    put(packet, all[i].frame);
    put_block(out, 6, packet);
  }
  return out;
}

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return lines;
  std::array<char, 1024> line;
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) {
    lines.emplace_back(line.data());
    lines.back().pop_back();
  }
  pclose(pipe);
  return lines;
}

std::string last_of(const std::string& list) {
  return list.substr(list.find_last_of(',') + 1);
}

TEST(Walk, TsharkSeesTheSame) {
  if (lines_of("tshark --version 2>/dev/null").empty()) GTEST_SKIP() << "no tshark";
  std::vector<Encapsulation> all = test::encapsulations();
  std::erase_if(all,
                [](const Encapsulation& one) { return one.link_type == 247; });  // unknown to it

  const auto path = std::filesystem::temp_directory_path() / "rocetrace_encapsulations.pcapng";
  const Buffer file = pcapng(all);
  std::ofstream(path, std::ios::binary)
      .write(std::string(file.begin(), file.end()).data(),
             static_cast<std::streamsize>(file.size()));
  const auto lines = lines_of("tshark -r " + path.string() +
                              " -T fields -E separator=';' -e infiniband.bth.psn"
                              " -e infiniband.bth.opcode -e ip.src -e ipv6.src 2>/dev/null");
  std::filesystem::remove(path);
  ASSERT_EQ(lines.size(), all.size());

  std::size_t agreed = 0;
  for (std::size_t i = 0; i < all.size(); i++) {
    SCOPED_TRACE(all[i].name);
    std::istringstream line(lines[i]);
    std::string psn, opcode, ipv4, ipv6;
    std::getline(line, psn, ';');
    std::getline(line, opcode, ';');
    std::getline(line, ipv4, ';');
    std::getline(line, ipv6, ';');
    if (psn.empty()) continue;  // it does not open this one

    AddressTable addresses;
    flow::Observation seen;
    Located at;
    ASSERT_EQ(observe_frame(all[i].frame, static_cast<u32>(all[i].frame.size()), all[i].link_type,
                            addresses, seen, at),
              Sighting::roce);
    EXPECT_EQ(std::to_string(seen.psn), psn);
    EXPECT_EQ(std::to_string(seen.opcode), opcode);
    const Address source = addresses.address(seen.source);
    if (seen.version == 2) {
      const bool is_ipv4 = source.kind == AddressKind::ipv4;
      EXPECT_EQ(source.text().view(), last_of(is_ipv4 ? ipv4 : ipv6));
    }
    agreed++;
  }
  // All but the few that it does not open: a drift of the test would show here.
  EXPECT_GE(agreed, all.size() - 8);
}

Buffer erspan(Buffer header) {
  put(header, test::kFrame);
  return test::ethernet(0x0800, test::ipv4(47, header));
}

Path walked(const Encapsulation& one) {
  Path path;
  walk_until(step::kEthernet, start(one.frame, static_cast<u32>(one.frame.size()), one.link_type),
             path);
  return path;
}

// Every granularity, session, time stamp and sequence number as tshark reads it.
TEST(Walk, TsharkReadsTheSameOfErspan) {
  if (lines_of("tshark --version 2>/dev/null").empty()) GTEST_SKIP() << "no tshark";
  std::vector<Encapsulation> all;
  for (const u8 granularity : std::initializer_list<u8>{0, 1, 2, 3})
    for (const u8 others : std::initializer_list<u8>{
             0x00, 0xf8, 0x01, 0xf9})  // Hw ID and direction; a platform header
      for (const u8 stamp : std::initializer_list<u8>{0x00, 0x7f, 0xff}) {
        const u8 session = static_cast<u8>(17 * all.size());
        Buffer header = {0x10,  0,     0x22, 0xeb,
                         0xff,  stamp, 0,    session,
                         0x2f,  0xff,  0xfd, session,
                         stamp, 2,     3,    static_cast<u8>(stamp + 4),
                         0xab,  0xcd,  0x03, static_cast<u8>(others | granularity << 1)};
        if (others & 1) header.insert(header.end(), {0x0c, 0, 0, 0, 0, 0, 0, 0});
        all.push_back({"ERSPAN III", 1, erspan(header)});
      }
  for (const u8 session : std::initializer_list<u8>{0, 255})
    all.push_back(
        {"ERSPAN II", 1,
         erspan({0x10, 0, 0x88, 0xbe, 0, 1, 0, session, 0x10, 5, 3, session, 0, 0, 0, 1})});
  const auto file_path = std::filesystem::temp_directory_path() / "rocetrace_erspan.pcapng";
  const Buffer file = pcapng(all);
  std::ofstream(file_path, std::ios::binary)
      .write(std::string(file.begin(), file.end()).data(),
             static_cast<std::streamsize>(file.size()));
  const auto lines = lines_of("tshark -r " + file_path.string() +
                              " -T fields -E separator=';' -e gre.sequence_number -e erspan.spanid"
                              " -e erspan.timestamp -e erspan.gra 2>/dev/null");
  std::filesystem::remove(file_path);
  ASSERT_EQ(lines.size(), all.size());
  for (std::size_t i = 0; i < all.size(); i++) {
    const Mirror mirror = walked(all[i]).mirror;
    std::ostringstream told;
    told << mirror.sequence << ';' << mirror.session << ';';
    if (mirror.erspan_type == 3)
      told << mirror.timestamp << ';' << static_cast<unsigned>(mirror.granularity);
    else
      told << ';';
    EXPECT_EQ(told.str(), lines[i]) << all[i].name << ' ' << i;
  }
}

}  // namespace
}  // namespace roce::net
