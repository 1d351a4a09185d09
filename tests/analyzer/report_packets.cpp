// SPDX-License-Identifier: BSD-3-Clause
// The packet listing in its three formats.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report/packet_row.hpp"
#include "report_fixture.hpp"

namespace rocetrace {
namespace {

using nlohmann::json;
using testing::HasSubstr;

PacketRow resent_send() {
  PacketRow row;
  row.frame = 42;
  row.time = {kNoon};
  row.source = "10.0.0.1";
  row.destination = "10.0.0.2";
  row.source_port = 49152;
  row.dest_qp = 0x11;
  row.opcode = "RC SEND First";
  row.opcode_number = 0;
  row.psn = 7;
  row.ack_req = true;
  row.payload_bytes = 1024;
  row.ecn = 2;
  row.dscp = 26;
  row.half_flow = 1;
  row.packet_class = "retransmission";
  row.cause = "nak_sequence";
  row.place = "downstream";
  row.icrc = "good";
  return row;
}

PacketRow nak() {
  PacketRow row;
  row.frame = 43;
  row.source = "fe80::1";
  row.destination = "fe80::2";
  row.opcode = "RC Acknowledge";
  row.opcode_number = 0x11;
  row.syndrome = "nak_sequence";
  row.msn = 5;
  row.icrc = "bad";
  return row;
}

std::string listed(std::string_view format, const PacketRow& row) {
  std::string text;
  Sink out = Sink::memory(text);
  packet_format(format)->row(row, out);
  out.commit();
  return text;
}

std::string heading(std::string_view format) {
  std::string text;
  Sink out = Sink::memory(text);
  packet_format(format)->begin(out);
  out.commit();
  return text;
}

TEST(Packets, NdjsonHasThePublishedKeys) {
  EXPECT_EQ(json::parse(listed("ndjson", resent_send())), json::parse(R"({
    "frame": 42, "time": "2024-05-06T07:08:09.000000001Z", "source": "10.0.0.1",
    "destination": "10.0.0.2", "source_port": 49152, "dest_qp": 17, "opcode": "RC SEND First",
    "opcode_number": 0, "psn": 7, "ack_req": true, "payload_bytes": 1024, "ecn": "ect0",
    "dscp": 26, "half_flow": 1, "class": "retransmission", "cause": "nak_sequence",
    "place": "downstream", "icrc": "good"})"));
}

TEST(Packets, NdjsonLeavesOutWhatIsNotThere) {
  const json row = json::parse(listed("ndjson", nak()));
  EXPECT_FALSE(row.contains("class"));
  EXPECT_FALSE(row.contains("source_port"));
  EXPECT_EQ(row["syndrome"], "nak_sequence");
  EXPECT_EQ(row["msn"], 5);
}

TEST(Packets, CsvHasAColumnForEverything) {
  EXPECT_EQ(heading("csv"),
            "frame,time,source,destination,source_port,dest_qp,opcode,opcode_number,psn,ack_req,"
            "payload_bytes,ecn,dscp,half_flow,class,cause,place,syndrome,msn,icrc\r\n");
  EXPECT_EQ(listed("csv", resent_send()),
            "42,2024-05-06T07:08:09.000000001Z,10.0.0.1,10.0.0.2,49152,17,RC SEND First,0,7,true,"
            "1024,ect0,26,1,retransmission,nak_sequence,downstream,,,good\r\n");
  EXPECT_EQ(listed("csv", nak()),
            "43,1970-01-01T00:00:00.000000000Z,fe80::1,fe80::2,,0,RC Acknowledge,17,0,false,0,"
            "not_ect,0,,,,,nak_sequence,5,bad\r\n");
}

TEST(Packets, TextSaysWhatThePacketDid) {
  EXPECT_THAT(listed("text", resent_send()),
              HasSubstr("retransmission nak_sequence downstream ack_req\n"));
  EXPECT_THAT(listed("text", nak()), HasSubstr("nak_sequence msn 5 icrc_bad\n"));
}

TEST(Packets, TextNamesUnknownOpcodesByNumber) {
  PacketRow row = nak();
  row.opcode = {};
  row.opcode_number = 0xef;
  EXPECT_THAT(listed("text", row), HasSubstr("opcode 0xef"));
}

TEST(Packets, UnknownFormatIsNone) {
  EXPECT_EQ(packet_format("json"), nullptr);
}

}  // namespace
}  // namespace rocetrace
