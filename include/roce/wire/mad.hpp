// SPDX-License-Identifier: BSD-3-Clause
// Management datagrams of the communication manager: how connections are set up and ended (IBTA
// volume 1, 12.6 and 13.4), and what RDMA-CM puts into their private data (IBTA annex A11).
//
// The messages are rows only, since fields of five bits and of 92 bytes make no good structs. The
// rows of different messages that mean the same have the same abbreviation.

#pragma once

#include "roce/wire/bytes.hpp"
#include "roce/wire/fields.hpp"

namespace roce {

inline constexpr u8 kMadBaseVersion = 1;
inline constexpr u8 kCmClass = 0x07;
inline constexpr u8 kCmClassVersion = 2;
inline constexpr u32 kCmQueuePair = 1;
inline constexpr u32 kCmQkey = 0x8001'0000;

/// The header that all management datagrams share (IBTA 13.4.3).
struct Mad {
  u8 base_version, management_class, class_version;
  u8 method;  // R:1 Method:7
  be16 status, class_specific;
  be64 transaction;
  be16 attribute;
  be16 reserved;
  be32 modifier;
};
static_assert(WireHeader<Mad> && sizeof(Mad) == 24);

// clang-format off
inline constexpr Field kMadFields[] = {
    {"baseversion",   "Base Version",           8, Show::decimal},
    {"mgmtclass",     "Management Class",       8, Show::hex},
    {"classversion",  "Class Version",          8, Show::decimal},
    {"response",      "Response",               1, Show::flag},
    {"method",        "Method",                 7, Show::hex},
    {"status",        "Status",                16, Show::hex},
    {"classspecific", "Class Specific",        16, Show::hex},
    {"transactionid", "Transaction ID",        64, Show::hex},
    {"attributeid",   "Attribute ID",          16, Show::hex},
    {"resv16",        "Reserved",              16, Show::reserved},
    {"attributemod",  "Attribute Modifier",    32, Show::hex},
};
// clang-format on
static_assert(total_bits(kMadFields) == 8 * sizeof(Mad));

/// Attribute IDs of the communication manager's messages (IBTA 16.7.3).
enum class CmKind : u16 {
  req = 0x10,
  mra = 0x11,
  rej = 0x12,
  rep = 0x13,
  rtu = 0x14,
  dreq = 0x15,
  drep = 0x16,
  sidr_req = 0x17,
  sidr_rep = 0x18,
  lap = 0x19,
  apr = 0x1a
};

inline constexpr std::size_t kCmDataSize = 232;  // bytes of a message, after the header

// clang-format off
inline constexpr Field kReqFields[] = {
    {"localcommid",     "Local Communication ID",       32, Show::hex},
    {"resv8",           "Reserved",                      8, Show::reserved},
    {"vendorid",        "Vendor ID",                    24, Show::hex},
    {"serviceid",       "Service ID",                   64, Show::hex},
    {"localcaguid",     "Local CA GUID",                64, Show::hex},
    {"resv32",          "Reserved",                     32, Show::reserved},
    {"localqkey",       "Local Q_Key",                  32, Show::hex},
    {"localqpn",        "Local QPN",                    24, Show::hex},
    {"responderres",    "Responder Resources",           8, Show::decimal},
    {"localeecn",       "Local EE Context Number",      24, Show::hex},
    {"initiatordepth",  "Initiator Depth",               8, Show::decimal},
    {"remoteeecn",      "Remote EE Context Number",     24, Show::hex},
    {"remotetimeout",   "Remote CM Response Timeout",    5, Show::decimal},
    {"service",         "Transport Service Type",        2, Show::decimal},
    {"flowctl",         "End-to-End Flow Control",       1, Show::flag},
    {"startingpsn",     "Starting PSN",                 24, Show::decimal},
    {"localtimeout",    "Local CM Response Timeout",     5, Show::decimal},
    {"retrycount",      "Retry Count",                   3, Show::decimal},
    {"pkey",            "Partition Key",                16, Show::hex},
    {"mtu",             "Path Packet Payload MTU",       4, Show::decimal},
    {"rdcexists",       "RDC Exists",                    1, Show::flag},
    {"rnrretrycount",   "RNR Retry Count",               3, Show::decimal},
    {"maxcmretries",    "Max CM Retries",                4, Show::decimal},
    {"srq",             "SRQ",                           1, Show::flag},
    {"exttransport",    "Extended Transport Type",       3, Show::decimal},
    {"locallid",        "Primary Local Port LID",       16, Show::hex},
    {"remotelid",       "Primary Remote Port LID",      16, Show::hex},
    {"localgid",        "Primary Local Port GID",      128, Show::ipv6},
    {"remotegid",       "Primary Remote Port GID",     128, Show::ipv6},
    {"flow",            "Primary Flow Label",           20, Show::hex},
    {"resv6",           "Reserved",                      6, Show::reserved},
    {"rate",            "Primary Packet Rate",           6, Show::decimal},
    {"tclass",          "Primary Traffic Class",         8, Show::hex},
    {"hoplmt",          "Primary Hop Limit",             8, Show::decimal},
    {"sl",              "Primary SL",                    4, Show::decimal},
    {"subnetlocal",     "Primary Subnet Local",          1, Show::flag},
    {"resv3",           "Reserved",                      3, Show::reserved},
    {"acktimeout",      "Primary Local ACK Timeout",     5, Show::decimal},
    {"resv3b",          "Reserved",                      3, Show::reserved},
    {"altlocallid",     "Alternate Local Port LID",     16, Show::hex},
    {"altremotelid",    "Alternate Remote Port LID",    16, Show::hex},
    {"altlocalgid",     "Alternate Local Port GID",    128, Show::ipv6},
    {"altremotegid",    "Alternate Remote Port GID",   128, Show::ipv6},
    {"altflow",         "Alternate Flow Label",         20, Show::hex},
    {"altresv6",        "Reserved",                      6, Show::reserved},
    {"altrate",         "Alternate Packet Rate",         6, Show::decimal},
    {"alttclass",       "Alternate Traffic Class",       8, Show::hex},
    {"althoplmt",       "Alternate Hop Limit",           8, Show::decimal},
    {"altsl",           "Alternate SL",                  4, Show::decimal},
    {"altsubnetlocal",  "Alternate Subnet Local",        1, Show::flag},
    {"altresv3",        "Reserved",                      3, Show::reserved},
    {"altacktimeout",   "Alternate Local ACK Timeout",   5, Show::decimal},
    {"altresv3b",       "Reserved",                      3, Show::reserved},
    {"private",         "Private Data",                736, Show::bytes},
};
inline constexpr Field kMraFields[] = {
    {"localcommid",     "Local Communication ID",       32, Show::hex},
    {"remotecommid",    "Remote Communication ID",      32, Show::hex},
    {"message",         "Message MRAed",                 2, Show::decimal},
    {"resv6",           "Reserved",                      6, Show::reserved},
    {"servicetimeout",  "Service Timeout",               5, Show::decimal},
    {"resv3",           "Reserved",                      3, Show::reserved},
    {"private",         "Private Data",               1776, Show::bytes},
};
inline constexpr Field kRejFields[] = {
    {"localcommid",     "Local Communication ID",       32, Show::hex},
    {"remotecommid",    "Remote Communication ID",      32, Show::hex},
    {"message",         "Message Rejected",              2, Show::decimal},
    {"resv6",           "Reserved",                      6, Show::reserved},
    {"infolength",      "Reject Info Length",            7, Show::decimal},
    {"resv1",           "Reserved",                      1, Show::reserved},
    {"reason",          "Reason",                       16, Show::decimal},
    {"info",            "Additional Reject Information", 576, Show::bytes},
    {"private",         "Private Data",               1184, Show::bytes},
};
inline constexpr Field kRepFields[] = {
    {"localcommid",     "Local Communication ID",       32, Show::hex},
    {"remotecommid",    "Remote Communication ID",      32, Show::hex},
    {"localqkey",       "Local Q_Key",                  32, Show::hex},
    {"localqpn",        "Local QPN",                    24, Show::hex},
    {"vendoridh",       "Vendor ID, High",               8, Show::hex},
    {"localeecn",       "Local EE Context Number",      24, Show::hex},
    {"vendoridm",       "Vendor ID, Middle",             8, Show::hex},
    {"startingpsn",     "Starting PSN",                 24, Show::decimal},
    {"vendoridl",       "Vendor ID, Low",                8, Show::hex},
    {"responderres",    "Responder Resources",           8, Show::decimal},
    {"initiatordepth",  "Initiator Depth",               8, Show::decimal},
    {"ackdelay",        "Target ACK Delay",              5, Show::decimal},
    {"failover",        "Failover Accepted",             2, Show::decimal},
    {"flowctl",         "End-to-End Flow Control",       1, Show::flag},
    {"rnrretrycount",   "RNR Retry Count",               3, Show::decimal},
    {"srq",             "SRQ",                           1, Show::flag},
    {"resv4",           "Reserved",                      4, Show::reserved},
    {"localcaguid",     "Local CA GUID",                64, Show::hex},
    {"private",         "Private Data",               1568, Show::bytes},
};
inline constexpr Field kRtuFields[] = {
    {"localcommid",     "Local Communication ID",       32, Show::hex},
    {"remotecommid",    "Remote Communication ID",      32, Show::hex},
    {"private",         "Private Data",               1792, Show::bytes},
};
inline constexpr Field kDreqFields[] = {
    {"localcommid",     "Local Communication ID",       32, Show::hex},
    {"remotecommid",    "Remote Communication ID",      32, Show::hex},
    {"remoteqpn",       "Remote QPN",                   24, Show::hex},
    {"resv8",           "Reserved",                      8, Show::reserved},
    {"private",         "Private Data",               1760, Show::bytes},
};
inline constexpr Field kDrepFields[] = {
    {"localcommid",     "Local Communication ID",       32, Show::hex},
    {"remotecommid",    "Remote Communication ID",      32, Show::hex},
    {"private",         "Private Data",               1792, Show::bytes},
};
inline constexpr Field kSidrReqFields[] = {
    {"requestid",       "Request ID",                   32, Show::hex},
    {"pkey",            "Partition Key",                16, Show::hex},
    {"resv16",          "Reserved",                     16, Show::reserved},
    {"serviceid",       "Service ID",                   64, Show::hex},
    {"private",         "Private Data",               1728, Show::bytes},
};
inline constexpr Field kSidrRepFields[] = {
    {"requestid",       "Request ID",                   32, Show::hex},
    {"status",          "Status",                        8, Show::decimal},
    {"infolength",      "Additional Information Length", 8, Show::decimal},
    {"vendoridh",       "Vendor ID, High",              16, Show::hex},
    {"localqpn",        "QPN",                          24, Show::hex},
    {"vendoridl",       "Vendor ID, Low",                8, Show::hex},
    {"serviceid",       "Service ID",                   64, Show::hex},
    {"localqkey",       "Q_Key",                        32, Show::hex},
    {"info",            "Additional Information",      576, Show::bytes},
    {"private",         "Private Data",               1088, Show::bytes},
};
inline constexpr Field kLapFields[] = {
    {"localcommid",     "Local Communication ID",       32, Show::hex},
    {"remotecommid",    "Remote Communication ID",      32, Show::hex},
    {"resv32",          "Reserved",                     32, Show::reserved},
    {"remoteqpn",       "Remote QPN",                   24, Show::hex},
    {"remotetimeout",   "Remote CM Response Timeout",    5, Show::decimal},
    {"resv3",           "Reserved",                      3, Show::reserved},
    {"resv32b",         "Reserved",                     32, Show::reserved},
    {"altlocallid",     "Alternate Local Port LID",     16, Show::hex},
    {"altremotelid",    "Alternate Remote Port LID",    16, Show::hex},
    {"altlocalgid",     "Alternate Local Port GID",    128, Show::ipv6},
    {"altremotegid",    "Alternate Remote Port GID",   128, Show::ipv6},
    {"altflow",         "Alternate Flow Label",         20, Show::hex},
    {"altresv4",        "Reserved",                      4, Show::reserved},
    {"alttclass",       "Alternate Traffic Class",       8, Show::hex},
    {"althoplmt",       "Alternate Hop Limit",           8, Show::decimal},
    {"altresv2",        "Reserved",                      2, Show::reserved},
    {"altrate",         "Alternate Packet Rate",         6, Show::decimal},
    {"altsl",           "Alternate SL",                  4, Show::decimal},
    {"altsubnetlocal",  "Alternate Subnet Local",        1, Show::flag},
    {"altresv3",        "Reserved",                      3, Show::reserved},
    {"altacktimeout",   "Alternate Local ACK Timeout",   5, Show::decimal},
    {"altresv3b",       "Reserved",                      3, Show::reserved},
    {"private",         "Private Data",               1344, Show::bytes},
};
inline constexpr Field kAprFields[] = {
    {"localcommid",     "Local Communication ID",       32, Show::hex},
    {"remotecommid",    "Remote Communication ID",      32, Show::hex},
    {"infolength",      "Additional Information Length", 8, Show::decimal},
    {"status",          "AP Status",                     8, Show::decimal},
    {"resv16",          "Reserved",                     16, Show::reserved},
    {"info",            "Additional Information",      576, Show::bytes},
    {"private",         "Private Data",               1184, Show::bytes},
};

/// A message of the communication manager as those who show packets need it.
struct CmInfo {
  CmKind kind;
  std::string_view name;
  std::string_view text;
  std::span<const Field> fields;
};
inline constexpr CmInfo kCmMessages[] = {
    {CmKind::req,      "REQ",      "request for communication",        kReqFields},
    {CmKind::mra,      "MRA",      "message receipt acknowledgment",   kMraFields},
    {CmKind::rej,      "REJ",      "reject",                           kRejFields},
    {CmKind::rep,      "REP",      "reply to request for communication", kRepFields},
    {CmKind::rtu,      "RTU",      "ready to use",                     kRtuFields},
    {CmKind::dreq,     "DREQ",     "request for communication release", kDreqFields},
    {CmKind::drep,     "DREP",     "reply to request for communication release", kDrepFields},
    {CmKind::sidr_req, "SIDR_REQ", "service ID resolution request",    kSidrReqFields},
    {CmKind::sidr_rep, "SIDR_REP", "service ID resolution response",   kSidrRepFields},
    {CmKind::lap,      "LAP",      "load alternate path",              kLapFields},
    {CmKind::apr,      "APR",      "alternate path response",          kAprFields},
};

/// What RDMA-CM's REQ and SIDR_REQ begin their private data with, for IP addresses (IBTA A11.4).
inline constexpr Field kIpPrivateFields[] = {
    {"majorversion", "CMA Version, Major",   4, Show::decimal},
    {"minorversion", "CMA Version, Minor",   4, Show::decimal},
    {"ipversion",    "IP Version",           4, Show::decimal},
    {"resv4",        "Reserved",             4, Show::reserved},
    {"srcport",      "Source Port",         16, Show::decimal},
    {"src",          "Source Address",     128, Show::ipv6},
    {"dst",          "Destination Address", 128, Show::ipv6},
};
// clang-format on
inline constexpr std::size_t kIpPrivateSize = 36;
static_assert(total_bits(kIpPrivateFields) == 8 * kIpPrivateSize);

static_assert([] {
  for (const CmInfo& info : kCmMessages) {
    if (total_bits(info.fields) != 8 * kCmDataSize) return false;
  }
  return true;
}());

}  // namespace roce
