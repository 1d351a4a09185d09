// SPDX-License-Identifier: BSD-3-Clause
// The communication manager's conversations: who asked whom for a connection, and what became of
// it. They tell which QPs belong together before the first packet of either.

#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "roce/cm_message.hpp"
#include "roce/flow/flow_key.hpp"

namespace roce::flow {

/// One attempt to connect; times in nanoseconds, 0 for what was not seen.
struct CmExchange {
  u32 requester = 0, responder = 0;  // ids of addresses
  u8 version = 2;                    // of RoCE
  u32 requester_comm_id = 0, responder_comm_id = 0;
  u32 requester_qp = 0, responder_qp = 0;
  u32 requester_psn = 0, responder_psn = 0;  // starting PSNs, as each told the other
  u64 service_id = 0;
  std::optional<IpConnection> ip;
  u16 path_mtu = 0;          // offered, bytes; 0 unknown
  u8 local_ack_timeout = 0;  // exponent n of 4.096 us * 2^n
  u8 retry_count = 0, rnr_retry_count = 0;
  u32 requests = 0, replies = 0, rejects = 0, delays = 0;  // REQ, REP, REJ and MRA messages
  u16 reject_code = 0;                                     // of the last REJ: see reject_reason()
  bool rejected_by_requester = false;
  bool datagram = false;  // SIDR: no connection, a service's QP
  u64 first_frame = 0, last_frame = 0;
  u64 request_time = 0;       // of the first REQ
  u64 reply_time = 0;         // of the first REP or REJ
  u64 ready_time = 0;         // of the first RTU
  u64 disconnect_time = 0;    // of the first DREQ
  u64 disconnected_time = 0;  // of the first DREP
  u64 last_time = 0;

  /// The half-flows of the connection; meaningful once both QPs are known.
  HalfFlowKey forward() const { return {requester, responder, responder_qp | u32{version} << 24}; }
  HalfFlowKey backward() const { return {responder, requester, requester_qp | u32{version} << 24}; }
};

class CmExchanges {
 public:
  static constexpr std::size_t kMost = 1u << 20;  // further ones are not remembered

  /// Takes a message, and gives the exchange that it belongs to, or null if that did not begin in
  /// the trace. The pointer is good until the next call.
  CmExchange* observe(const Observation& packet, const CmMessage& message) {
    CmExchange* exchange = find(packet, message);
    if (exchange == nullptr) return nullptr;
    exchange->last_frame = packet.frame;
    exchange->last_time = packet.time;
    switch (message.kind) {
      case CmKind::req: request(*exchange, packet, message); break;
      case CmKind::rep: reply(*exchange, packet, message); break;
      case CmKind::rej: reject(*exchange, packet, message); break;
      case CmKind::rtu: set_once(exchange->ready_time, packet.time); break;
      case CmKind::mra: exchange->delays++; break;
      case CmKind::dreq: set_once(exchange->disconnect_time, packet.time); break;
      case CmKind::drep: set_once(exchange->disconnected_time, packet.time); break;
      case CmKind::sidr_req: sidr_request(*exchange, packet, message); break;
      case CmKind::sidr_rep: set_once(exchange->reply_time, packet.time); break;
      case CmKind::lap:
      case CmKind::apr: break;
    }
    return exchange;
  }

  const std::vector<CmExchange>& all() const { return exchanges_; }

 private:
  using Key = std::tuple<u32, u32, u32>;  // address ids of the one who numbered it and its peer; id

  static void set_once(u64& value, u64 time) {
    if (value == 0) value = time;
  }

  CmExchange* find(const Observation& packet, const CmMessage& message) {
    const u32 local = message.local_comm_id.value_or(0);
    const bool sidr = message.kind == CmKind::sidr_req || message.kind == CmKind::sidr_rep;
    if (message.kind == CmKind::req || message.kind == CmKind::sidr_req) {
      const u32 id = sidr ? message.request_id.value_or(0) : local;
      return open({packet.source, packet.destination, id}, packet, sidr);
    }
    if (sidr) return at({packet.destination, packet.source, message.request_id.value_or(0)});
    // Whoever sends it, its own number or the peer's leads back to the REQ or the REP.
    if (CmExchange* one = at({packet.source, packet.destination, local})) return one;
    return at({packet.destination, packet.source, message.remote_comm_id.value_or(0)});
  }

  CmExchange* at(const Key& key) {
    const auto found = index_.find(key);
    return found != index_.end() ? &exchanges_[found->second] : nullptr;
  }

  CmExchange* open(const Key& key, const Observation& packet, bool datagram) {
    CmExchange* known = at(key);
    // A repeated REQ belongs to the attempt before, unless that was answered long ago.
    const bool over = known && (known->disconnect_time != 0 || known->rejects > 0);
    if (known && !over) return known;
    if (exchanges_.size() >= kMost) return nullptr;
    index_[key] = exchanges_.size();
    CmExchange& made = exchanges_.emplace_back();
    made.requester = packet.source;
    made.responder = packet.destination;
    made.version = packet.version;
    made.datagram = datagram;
    made.first_frame = packet.frame;
    made.request_time = packet.time;
    return &made;
  }

  static void request(CmExchange& exchange, const Observation&, const CmMessage& message) {
    exchange.requests++;
    exchange.requester_comm_id = message.local_comm_id.value_or(0);
    exchange.requester_qp = message.local_qpn.value_or(0);
    exchange.requester_psn = message.starting_psn.value_or(0);
    exchange.service_id = message.service_id.value_or(0);
    exchange.path_mtu = message.path_mtu.value_or(0);
    exchange.local_ack_timeout = message.ack_timeout.value_or(0);
    exchange.retry_count = message.retry_count.value_or(0);
    exchange.rnr_retry_count = message.rnr_retry_count.value_or(0);
    exchange.ip = message.ip;
  }

  void reply(CmExchange& exchange, const Observation& packet, const CmMessage& message) {
    exchange.replies++;
    set_once(exchange.reply_time, packet.time);
    exchange.responder_comm_id = message.local_comm_id.value_or(0);
    exchange.responder_qp = message.local_qpn.value_or(0);
    exchange.responder_psn = message.starting_psn.value_or(0);
    const Key key{packet.source, packet.destination, exchange.responder_comm_id};
    index_[key] = static_cast<std::size_t>(&exchange - exchanges_.data());
  }

  static void reject(CmExchange& exchange, const Observation& packet, const CmMessage& message) {
    exchange.rejects++;
    set_once(exchange.reply_time, packet.time);
    exchange.reject_code = message.reason.value_or(0);
    exchange.rejected_by_requester = packet.source == exchange.requester;
  }

  static void sidr_request(CmExchange& exchange, const Observation&, const CmMessage& message) {
    exchange.requests++;
    exchange.service_id = message.service_id.value_or(0);
    exchange.ip = message.ip;
  }

  std::vector<CmExchange> exchanges_;
  std::map<Key, std::size_t> index_;
};

}  // namespace roce::flow
