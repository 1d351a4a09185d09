// SPDX-License-Identifier: BSD-3-Clause
// What a communication manager's datagram says, as values: who connects with whom, with which
// queue pairs and PSNs, or why not. Snap lengths cut these datagrams too, so each value may be
// missing.

#pragma once

#include <algorithm>

#include "roce/net/address.hpp"
#include "roce/packet.hpp"
#include "roce/wire/mad.hpp"

namespace roce {

/// The addresses that RDMA-CM connects, out of the private data.
struct IpConnection {
  u16 source_port = 0;
  u16 destination_port = 0;  // out of the service ID
  net::Address source, destination;
};

struct CmMessage {
  CmKind kind{};
  u64 transaction = 0;
  std::optional<u32> local_comm_id, remote_comm_id;  // of the sender; of its peer
  std::optional<u32> request_id;                     // SIDR_REQ, SIDR_REP
  std::optional<u64> service_id;
  std::optional<u32> local_qpn;     // REQ, REP, SIDR_REP: of the sender
  std::optional<u32> remote_qpn;    // DREQ, LAP: of the peer
  std::optional<u32> starting_psn;  // of what the sender will receive
  std::optional<u16> pkey;
  std::optional<u16> path_mtu;  // bytes, as offered
  std::optional<u8> responder_resources, initiator_depth;
  std::optional<u8> retry_count, rnr_retry_count;
  std::optional<u8> ack_timeout;  // exponent: see ack_timeout_ns()
  std::optional<u8> rejected;     // REJ, MRA: 0 REQ, 1 REP, 2 no message (MRA: LAP)
  std::optional<u16> reason;      // REJ: see reject_reason()
  std::optional<u8> status;       // SIDR_REP: see sidr_status(); APR
  std::optional<net::Address> local_gid, remote_gid;
  std::optional<IpConnection> ip;
};

/// The local ACK timeout in nanoseconds, 4.096 us * 2^exponent (IBTA 9.9.2.1.1); 0: no timeout.
constexpr u64 ack_timeout_ns(u8 exponent) {
  return exponent == 0 ? 0 : u64{4096} << std::min<u8>(exponent, 31);
}
static_assert(ack_timeout_ns(14) == 67'108'864);

/// RDMA-CM's service IDs (IBTA A11.2): the prefix 0x0000000001, a protocol, and a port.
constexpr bool is_ip_service(u64 service_id) {
  return service_id >> 24 == 1;
}

/// Why a REJ rejects, in words (IBTA 12.6.7.2); empty for a reserved code.
constexpr std::string_view reject_reason(u16 code) {
  constexpr std::string_view kReasons[] = {
      "",
      "no queue pair available",
      "no EE context available",
      "no resources available",
      "timeout",
      "unsupported request",
      "invalid communication ID",
      "invalid communication instance",
      "invalid service ID: nobody listens",
      "invalid transport service type",
      "stale connection",
      "RDC does not exist",
      "primary remote port GID rejected",
      "primary remote port LID rejected",
      "invalid primary SL",
      "invalid primary traffic class",
      "invalid primary hop limit",
      "invalid primary packet rate",
      "alternate remote port GID rejected",
      "alternate remote port LID rejected",
      "invalid alternate SL",
      "invalid alternate traffic class",
      "invalid alternate hop limit",
      "invalid alternate packet rate",
      "port and CM redirection",
      "port redirection",
      "invalid path MTU",
      "insufficient responder resources",
      "rejected by the application",
      "invalid RNR retry count",
      "duplicate local communication ID",
      "unsupported class version",
      "invalid primary flow label",
      "invalid alternate flow label",
      "",
      "vendor option not supported",
  };
  return code < std::size(kReasons) ? kReasons[code] : std::string_view{};
}
static_assert(reject_reason(28) == "rejected by the application");
static_assert(reject_reason(35) == "vendor option not supported");

/// What a SIDR_REP's status says (IBTA 12.11.2.1); empty for a reserved code.
constexpr std::string_view sidr_status(u8 code) {
  constexpr std::string_view kStatus[] = {"queue pair valid",
                                          "service ID not supported",
                                          "rejected by the service",
                                          "no queue pair available",
                                          "redirected",
                                          "version not supported"};
  return code < std::size(kStatus) ? kStatus[code] : std::string_view{};
}

/// The kind of a message as a row; null for an attribute that is none of the CM's.
constexpr const CmInfo* find_cm_info(u16 attribute) {
  for (const CmInfo& info : kCmMessages) {
    if (static_cast<u16>(info.kind) == attribute) return &info;
  }
  return nullptr;
}

namespace detail {

/// A message's fields, by abbreviation. Nothing comes of a field that the message does not have,
/// or of which not all was captured.
struct CmFields {
  std::span<const Field> fields;
  Bytes bytes;

  template <class T>
  void take(std::optional<T>& out, std::string_view abbrev) const {
    const auto place = find_field(fields, abbrev);
    if (!place || place->at + place->bits > 8 * bytes.size()) return;
    out = static_cast<T>(read_bits(bytes, place->at, place->bits));
  }

  /// The captured part of a field that starts on a byte.
  Bytes part(std::string_view abbrev) const {
    const auto place = find_field(fields, abbrev);
    if (!place || place->at / 8 >= bytes.size()) return {};
    const Bytes rest = bytes.subspan(place->at / 8);
    return rest.first(std::min(rest.size(), place->bits / 8));
  }

  void take(std::optional<net::Address>& out, std::string_view abbrev) const {
    const Bytes octets = part(abbrev);
    std::array<u8, 16> gid;
    if (octets.size() < gid.size()) return;
    std::ranges::copy(octets, gid.begin());
    out = net::Address::ipv6(gid);
  }
};

inline std::optional<IpConnection> decode_ip_private(Bytes bytes, u64 service_id) {
  if (bytes.size() < kIpPrivateSize) return std::nullopt;
  const CmFields fields = {kIpPrivateFields, bytes};
  std::optional<u8> major, ip_version;
  std::optional<u16> source_port;
  std::optional<net::Address> source, destination;
  fields.take(major, "majorversion");
  fields.take(ip_version, "ipversion");
  fields.take(source_port, "srcport");
  fields.take(source, "src");
  fields.take(destination, "dst");
  if (*major != 0 || (*ip_version != 4 && *ip_version != 6)) return std::nullopt;
  if (*ip_version == 4) {  // the last four of the sixteen bytes
    for (auto* end : {&source, &destination}) {
      const auto& octets = (*end)->octets;
      *end = net::Address::ipv4(u32{octets[12]} << 24 | u32{octets[13]} << 16 |
                                u32{octets[14]} << 8 | octets[15]);
    }
  }
  return IpConnection{*source_port, static_cast<u16>(service_id), *source, *destination};
}

}  // namespace detail

/// Decodes the payload of a UD packet to queue pair 1. Nothing if it is not a message of the
/// communication manager's, or not even its header was captured.
inline std::optional<CmMessage> decode_cm(Bytes payload) {
  const auto mad = read<Mad>(payload);
  if (!mad || mad->base_version != kMadBaseVersion || mad->management_class != kCmClass ||
      mad->class_version != kCmClassVersion) {
    return std::nullopt;
  }
  const CmInfo* const info = find_cm_info(mad->attribute);
  if (info == nullptr) return std::nullopt;
  const Bytes body = payload.subspan(sizeof(Mad));
  const detail::CmFields fields = {info->fields, body.first(std::min(body.size(), kCmDataSize))};

  CmMessage message;
  message.kind = info->kind;
  message.transaction = mad->transaction;
  fields.take(message.local_comm_id, "localcommid");
  fields.take(message.remote_comm_id, "remotecommid");
  fields.take(message.request_id, "requestid");
  fields.take(message.service_id, "serviceid");
  fields.take(message.local_qpn, "localqpn");
  fields.take(message.remote_qpn, "remoteqpn");
  fields.take(message.starting_psn, "startingpsn");
  fields.take(message.pkey, "pkey");
  fields.take(message.responder_resources, "responderres");
  fields.take(message.initiator_depth, "initiatordepth");
  fields.take(message.retry_count, "retrycount");
  fields.take(message.rnr_retry_count, "rnrretrycount");
  fields.take(message.ack_timeout, "acktimeout");
  fields.take(message.rejected, "message");
  fields.take(message.reason, "reason");
  fields.take(message.status, "status");
  fields.take(message.local_gid, "localgid");
  fields.take(message.remote_gid, "remotegid");

  std::optional<u8> mtu;
  fields.take(mtu, "mtu");
  if (mtu && *mtu >= 1 && *mtu <= 5) message.path_mtu = static_cast<u16>(128u << *mtu);
  if (message.service_id && is_ip_service(*message.service_id) &&
      (message.kind == CmKind::req || message.kind == CmKind::sidr_req)) {
    message.ip = detail::decode_ip_private(fields.part("private"), *message.service_id);
  }
  return message;
}

/// Decodes a packet as a message of the communication manager's, if that is what it is.
inline std::optional<CmMessage> decode_cm(const RocePacket& packet) {
  const auto deth = packet.get<Deth>();
  if (!deth || packet.dest_qp() != kCmQueuePair || deth->qkey != kCmQkey) return std::nullopt;
  return decode_cm(packet.payload());
}

}  // namespace roce
