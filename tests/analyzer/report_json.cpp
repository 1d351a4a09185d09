// SPDX-License-Identifier: BSD-3-Clause
// JSON and NDJSON: what programs read, held against the published contract key by key.

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "report_fixture.hpp"

namespace rocetrace {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

json parsed(const Report& report) {
  return json::parse(written(report, write_json));
}

std::vector<std::string> keys(const json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.items()) names.push_back(key);
  return names;
}

std::vector<json> lines(const Report& report) {
  std::vector<json> objects;
  std::istringstream text{written(report, write_ndjson)};
  for (std::string line; std::getline(text, line);) objects.push_back(json::parse(line));
  return objects;
}

TEST(ReportJson, HasThePublishedTables) {
  const json report = parsed(small_report());
  EXPECT_EQ(report["schema"], "rocetrace/1");
  for (const char* key : {"captures", "half_flows", "connections", "hosts", "findings"})
    EXPECT_TRUE(report[key].is_array()) << key;
  EXPECT_THAT(keys(report["totals"]),
              UnorderedElementsAre("packets", "roce_packets", "half_flows", "connections",
                                   "retransmissions", "missing_psns", "naks", "rnr_naks", "cnps",
                                   "ce_marked", "untracked_packets"));
}

TEST(ReportJson, CaptureHasThePublishedKeys) {
  const json capture = parsed(small_report())["captures"][0];
  const json expected = {
      {"file", "trace.pcap"},
      {"format", "pcap"},
      {"link_types", {"Ethernet"}},
      {"packets", 1200},
      {"wire_bytes", 1'100'000},
      {"roce_packets", 1001},
      {"not_roce_on_4791", 1},
      {"truncated_packets", 9},
      {"undecoded_packets", 0},
      {"first_time", "2024-05-06T07:08:09.000000001Z"},
      {"last_time", "2024-05-06T07:08:10.000000001Z"},
      {"cut_short", true},
      {"trust", "limited"},
      {"trust_reasons", {"packets were cut"}},
      {"time_resolution_ns", 1},
      {"dropped_packets", nullptr},
      {"damages",
       json::array(
           {{{"offset", 1234}, {"lost_bytes", 16}, {"reason", "record longer than the file"}}})},
      {"left_out_packets", nullptr},
      {"mirror_missing_packets", nullptr},
      {"notes", json::array()}};
  EXPECT_EQ(capture, expected);
}

TEST(ReportJson, HalfFlowHasThePublishedKeys) {
  const json flow = parsed(small_report())["half_flows"][0];
  const json expected = json::parse(R"({
    "id": 1, "version": "v2", "source": "10.0.0.1", "destination": "10.0.0.2", "dest_qp": 17,
    "service": "RC", "packets": 1000, "wire_bytes": 1000000, "payload_bytes": 900000,
    "first_time": "2024-05-06T07:08:09.000000001Z", "last_time": "2024-05-06T07:08:10.000000001Z",
    "first_frame": 1, "last_frame": 1999,
    "source_ports": [49152, 49153], "dscp": {"0": 2, "26": 998}, "vlans": [100], "pcp": {},
    "ecn": {"not_ect": 2, "ect1": 0, "ect0": 900, "ce": 98},
    "cnp": {"packets": 11, "interval_ns": {"count": 10, "min": 50000, "p50": 100000,
            "p90": 150000, "p99": 200000, "max": 250000, "mean": 100000},
            "ces_per_cnp": null, "rate_cut": null, "rate_kept": null, "without_ce": null},
    "requests": {"packets": 900, "messages": 90, "first_psn": 16777200, "last_psn": 860,
                 "gaps": 3, "missing_psns": 12, "retransmissions": 30,
                 "retransmitted_bytes": 30720, "episodes": 4,
                 "by_cause": {"nak_sequence": 20, "rnr_nak": 0, "implied_nak": 0, "selective": 0,
                              "timeout": 10, "unknown": 0},
                 "by_place": {"downstream": 30, "upstream": 0, "response": 0, "spurious": 0,
                              "not_ready": 0, "ambiguous": 0},
                 "reordered": 1, "duplicate_captures": 5, "stale": 0,
                 "capture_missed_psns": 0, "messages_lost": null, "most_outstanding_psns": null,
                 "most_outstanding_reads": null, "rnr_wait_ns": null, "rnr_timer_ignored": null,
                 "stalls": null},
    "responses": {"packets": 89, "acks": 80,
                  "naks": {"sequence": 3, "invalid_request": 0, "remote_access": 1,
                           "remote_operational": 0},
                  "rnr_naks": 2, "read_responses": 3, "atomic_acks": 0, "gaps": 0,
                  "missing_psns": 0, "retransmissions": 0, "reordered": 0, "duplicate_captures": 0},
    "icrc": {"good": 990, "bad": 1, "not_captured": 9}})");
  EXPECT_EQ(flow, expected);
}

TEST(ReportJson, WhatIsNotKnownIsNull) {
  const json flow = parsed(small_report())["half_flows"][1];
  EXPECT_TRUE(flow["service"].is_null());
  EXPECT_TRUE(flow["cnp"]["interval_ns"].is_null());
  EXPECT_TRUE(flow["requests"]["first_psn"].is_null());
  EXPECT_TRUE(flow["requests"]["by_cause"].is_null());
  EXPECT_TRUE(flow["requests"]["by_place"].is_null());
  EXPECT_TRUE(flow["responses"]["gaps"].is_null());
  EXPECT_EQ(flow["dscp"], json::object());
  EXPECT_EQ(flow["version"], "v1");
}

TEST(ReportJson, ConnectionHasThePublishedKeys) {
  const json connection = parsed(small_report())["connections"][0];
  EXPECT_THAT(keys(connection),
              UnorderedElementsAre("id", "half_flows", "evidence", "confidence", "path_mtu",
                                   "ack_latency_ns", "read_latency_ns", "read_first_latency_ns",
                                   "message_time_ns", "nak_generation_ns", "nak_reaction_ns",
                                   "rnr_wait_ns", "ce_to_cnp_ns", "cm"));
  EXPECT_EQ(connection["half_flows"], json({1, 2}));
  EXPECT_EQ(connection["confidence"], 0.97);
  EXPECT_EQ(connection["ack_latency_ns"]["p99"], 16000);
  EXPECT_TRUE(connection["read_latency_ns"].is_null());
}

TEST(ReportJson, PartnerThatIsNotThereIsNull) {
  Report report;
  ConnectionRow connection;
  connection.half_flows = {7, std::nullopt};
  report.connections = std::vector{connection};
  EXPECT_EQ(parsed(report)["connections"][0]["half_flows"], json({7, nullptr}));
}

TEST(ReportJson, HostCountersBearTheKernelsNames) {
  const json host = parsed(small_report())["hosts"][0];
  EXPECT_EQ(host["address"], "10.0.0.1");
  EXPECT_EQ(host["counters"]["packet_seq_err"], 3);
  EXPECT_EQ(host["counters"]["rp_cnp_handled"], 0);
  EXPECT_TRUE(host["counters"]["out_of_sequence"].is_null());
  EXPECT_EQ(host["counters"].size(), 15u);
}

TEST(ReportJson, FindingNamesItsScopeAlone) {
  const json finding = parsed(small_report())["findings"][0];
  EXPECT_EQ(finding["scope"], json({{"half_flow", 1}}));
  EXPECT_EQ(finding["evidence"],
            json({{"amplification", 2.5}, {"lost", 12}, {"why", "NAK, mostly"}}));
  EXPECT_TRUE(finding["last_time"].is_null());
}

TEST(ReportJson, EmptyReportIsWellFormed) {
  const json report = parsed({});
  EXPECT_EQ(report["half_flows"], json::array());
  EXPECT_EQ(report["totals"]["packets"], 0);
  EXPECT_TRUE(report["totals"]["connections"].is_null());
}

TEST(ReportJson, HostileTextStaysWellFormed) {
  Report report;
  CaptureRow row;
  row.file = "a\"\\\n\x1b[2J\xff\xc0\xaf\xed\xa0\x80\x01é.pcap";
  report.captures = {row};
  const json capture = parsed(report)["captures"][0];  // throws on ill-formed UTF-8
  const std::string bad = "\xef\xbf\xbd";
  EXPECT_EQ(capture["file"], "a\"\\\n\x1b[2J" + bad + bad + bad + bad + bad + bad + "\x01é.pcap");
}

TEST(ReportJson, NumbersThatAreNoneBecomeNull) {
  Report report;
  ConnectionRow connection;
  connection.confidence = std::nan("");
  report.connections = std::vector{connection};
  EXPECT_TRUE(parsed(report)["connections"][0]["confidence"].is_null());
}

TEST(ReportJson, RowsMayBeMadeOneAtATime) {
  Report report;
  report.half_flows = Table<HalfFlowRow>{3, [](std::size_t index, HalfFlowRow& row) {
                                           row.id = index + 1;
                                           row.source_ports.assign(index, 4791);
                                         }};
  const json flows = parsed(report)["half_flows"];
  ASSERT_EQ(flows.size(), 3u);
  EXPECT_EQ(flows[0]["source_ports"], json::array());
  EXPECT_EQ(flows[2]["source_ports"], json({4791, 4791}));
}

TEST(ReportNdjson, EachRowNamesItsTable) {
  std::vector<std::string> tables;
  for (const json& line : lines(small_report())) tables.push_back(line["table"]);
  EXPECT_THAT(tables, ElementsAre("totals", "capture", "half_flow", "half_flow", "connection",
                                  "host", "finding", "protocol", "protocol", "unjudged"));
}

TEST(ReportNdjson, NestedKeysAreJoinedWithDots) {
  const json flow = lines(small_report())[2];
  EXPECT_EQ(flow["ecn.ce"], 98);
  EXPECT_EQ(flow["cnp.interval_ns.p99"], 200'000);
  EXPECT_EQ(flow["requests.by_cause.timeout"], 10);
  EXPECT_EQ(flow["responses.naks.sequence"], 3);
  EXPECT_EQ(flow["dscp.26"], 998);
  EXPECT_EQ(flow["source_ports"], json({49152, 49153}));
  EXPECT_FALSE(flow.contains("ecn"));
}

TEST(ReportNdjson, AbsentPartsHaveAllTheirKeys) {
  const json flow = lines(small_report())[3];
  EXPECT_TRUE(flow.at("cnp.interval_ns.count").is_null());
  EXPECT_TRUE(flow.at("requests.by_place.ambiguous").is_null());
  EXPECT_TRUE(flow.at("requests.first_psn").is_null());
}

TEST(ReportNdjson, FlatteningTheJsonGivesTheSameValues) {
  const json nested = parsed(small_report())["half_flows"][0];
  json flat = lines(small_report())[2];
  flat.erase("table");
  const std::function<void(const json&, const std::string&)> compare = [&](const json& value,
                                                                           const std::string& key) {
    if (value.is_null() && !flat.contains(key)) {  // a part that is absent: all its keys are null
      std::erase_if(flat.get_ref<json::object_t&>(), [&](const auto& entry) {
        return entry.first.starts_with(key + ".") && entry.second.is_null();
      });
      return;
    }
    if (!value.is_object()) {
      EXPECT_EQ(flat.at(key), value) << key;
      flat.erase(key);
      return;
    }
    for (const auto& [name, inner] : value.items())
      compare(inner, key.empty() ? name : key + "." + name);
  };
  compare(nested, "");
  EXPECT_EQ(flat, json::object());
}

TEST(ReportNdjson, EvidenceIsFlattenedToo) {
  const json finding = lines(small_report())[6];
  EXPECT_EQ(finding["evidence.amplification"], 2.5);
  EXPECT_EQ(finding["scope.half_flow"], 1);
  EXPECT_FALSE(finding.contains("scope.host"));
}

}  // namespace
}  // namespace rocetrace
