// SPDX-License-Identifier: BSD-3-Clause
// Traffic between two hosts written as a story of verbs, as one tap saw it:
//   Script().send(5).lose_before_tap(6).send(7).nak(6).resend(6, 7).ack(7).follow()
// Host a asks, host b answers, until b_asks(). Time passes by itself: a microsecond from packet to
// packet, ten when the other side takes over; wait() adds to it.

#pragma once

#include <chrono>
#include <fstream>
#include <map>
#include <stdexcept>

#include "roce/net/observe.hpp"
#include "support/followed.hpp"
#include "support/packet.hpp"

namespace roce::test {

using namespace std::chrono_literals;

/// How a host fills the IP identification in, and with which IP.
enum class Ids : u8 { counted, zero, ipv6 };

class Script {
 public:
  static constexpr u32 kMtu = 1024;  // bytes

  explicit Script(Ids ids = Ids::counted, Service service = Service::rc)
      : ids_(ids), service_(static_cast<u8>(service)) {}

  // --- who speaks

  /// From here on between these QPs, as numbered on hosts a and b.
  Script& between(u32 qp_of_a, u32 qp_of_b) {
    qp_of_a_ = qp_of_a;
    qp_of_b_ = qp_of_b;
    return *this;
  }
  Script& a_asks() { return asks(true); }
  Script& b_asks() { return asks(false); }
  Script& wait(std::chrono::nanoseconds time) {
    now_ += static_cast<u64>(time.count());
    return *this;
  }

  // --- requests

  /// SEND Only packets `first` .. `last`.
  Script& send(u32 first) { return send(first, first); }
  Script& send(u32 first, u32 last) {
    return each(first, last, [&](u32 psn) { show(sent(psn)); });
  }
  /// A SEND of `packets` packets, all but the last as large as the path MTU.
  Script& message(u32 first, u32 packets, u32 mtu = kMtu) {
    for (u32 i = 0; i < packets; i++) {
      const u8 part = i == 0 ? 0x00 : i + 1 < packets ? 0x01 : 0x02;
      show(ask({.opcode = part, .psn = first + i, .payload_size = i + 1 < packets ? mtu : 100}));
    }
    return *this;
  }
  Script& atomic(u32 psn) {
    show(ask({.opcode = 0x14, .psn = psn}));
    return *this;
  }
  /// A READ request for `length` bytes.
  Script& read(u32 psn, u32 length) {
    reads_.push_back({Psn(psn), length});
    show(ask({.opcode = 0x0c, .psn = psn, .dma_length = length}));
    return *this;
  }
  /// The rest of an earlier READ, from `psn` on, asked for again.
  Script& read_again(u32 psn) {
    const Read whole = read_of(psn);
    const u32 skipped = static_cast<u32>(distance(whole.first, Psn(psn))) * mtu_;
    return read(psn, whole.length - skipped);
  }
  /// The packets of these PSNs once more, as they were sent last.
  Script& resend(u32 psn) { return resend(psn, psn); }
  Script& resend(u32 first, u32 last) {
    return each(first, last, [&](u32 psn) { show(ask(remembered(psn))); });
  }
  /// SEND Only packets that the sender sent, and that were lost before they came to the tap.
  Script& lose_before_tap(u32 first) { return lose_before_tap(first, first); }
  Script& lose_before_tap(u32 first, u32 last) {
    return each(first, last, [&](u32 psn) { sent(psn); });
  }
  /// Packets sent again, and lost before the tap.
  Script& lose_again_before_tap(u32 psn) {
    ask(remembered(psn));
    return *this;
  }
  /// Sent now; the tap sees it when late() says so.
  Script& overtaken(u32 psn) {
    late_.insert_or_assign(psn & 0xff'ffff, sent(psn));
    return *this;
  }
  /// Sent again now; the tap sees it when late() says so.
  Script& overtaken_again(u32 psn) {
    late_.insert_or_assign(psn & 0xff'ffff, ask(remembered(psn)));
    return *this;
  }
  Script& late(u32 psn) {
    now_ += 1'000;
    show(late_.at(psn & 0xff'ffff));
    return *this;
  }

  // --- answers

  Script& ack(u32 psn) { return answer_aeth(psn, 0x1f); }
  /// NAK, PSN sequence error.
  Script& nak(u32 psn) { return answer_aeth(psn, 0x60); }
  Script& rnr(u32 psn, u8 timer = 14) { return answer_aeth(psn, static_cast<u8>(0x20 | timer)); }
  Script& atomic_response(u32 psn) {
    show(answer({.opcode = 0x12, .psn = psn}));
    return *this;
  }
  /// READ responses `first` .. `last` of the READ that was asked for last and holds them.
  Script& read_response(u32 first) { return read_response(first, first); }
  Script& read_response(u32 first, u32 last) {
    return each(first, last, [&](u32 psn) { show(read_answer(psn)); });
  }
  /// READ responses that were lost before the tap.
  Script& lose_response_before_tap(u32 psn) {
    read_answer(psn);
    return *this;
  }
  Script& cnp() {
    show(answer({.opcode = kCnpOpcode, .becn = true}));
    return *this;
  }

  // --- what happens to the packet shown last

  /// A switch marked it.
  Script& ce() {
    seen_.back().packet.tos |= 3;
    return *this;
  }
  /// The tap sees it once more, `hops` further on.
  Script& duplicate(u8 hops = 1) {
    Seen again = seen_.back();
    again.packet.ttl = static_cast<u8>(again.packet.ttl - hops);
    again.time = now_ += 1'000;
    seen_.push_back(again);
    return *this;
  }
  /// It was damaged on its way to the tap.
  Script& damaged() {
    seen_.back().packet.good_icrc = false;
    return *this;
  }
  /// The path MTU that READ responses are cut by.
  Script& mtu(u32 bytes) {
    mtu_ = bytes;
    return *this;
  }

  // --- results

  std::vector<flow::Observation> observations() const {
    std::vector<flow::Observation> out;
    net::AddressTable addresses;
    for (const Seen& seen : seen_) {
      const Buffer frame = seen.packet.frame();
      flow::Observation packet;
      const auto size = static_cast<u32>(frame.size());
      if (net::observe_frame(frame, size, 1, addresses, packet) != net::Sighting::roce)
        throw std::logic_error("a script made a frame that is not RoCE");
      packet.time = seen.time;
      packet.frame = out.size() + 1;
      packet.flags |= seen.packet.good_icrc ? flow::kIcrcGood : flow::kIcrcBad;
      out.push_back(packet);
    }
    return out;
  }

  Followed follow(std::size_t batch = 32) const { return test::follow(observations(), batch); }

  /// Writes what the tap saw as a pcap file with nanoseconds.
  void write(const std::string& path) const {
    std::ofstream out(path, std::ios::binary);
    const auto put32 = [&](std::initializer_list<u64> values) {
      for (u64 value : values)
        for (int shift = 0; shift < 32; shift += 8) out.put(static_cast<char>(value >> shift));
    };
    put32({0xa1b23c4d, 2 | 4 << 16, 0, 0, 65535, 1});
    for (const Seen& seen : seen_) {
      const Buffer frame = seen.packet.frame();
      put32({seen.time / 1'000'000'000, seen.time % 1'000'000'000, frame.size(), frame.size()});
      for (u8 byte : frame) out.put(static_cast<char>(byte));
    }
    if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
  }

 private:
  struct Seen {
    Packet packet;
    u64 time = 0;
  };
  struct Read {
    Psn first;
    u32 length = 0;
  };

  template <class Do>
  Script& each(u32 first, u32 last, Do one) {
    const i32 count = distance(Psn(first), Psn(last)) + 1;
    for (i32 i = 0; i < count; i++) one((first + static_cast<u32>(i)) & 0xff'ffff);
    return *this;
  }
  Script& asks(bool a) {
    a_asks_ = a;
    return *this;
  }

  Packet address_and_number(Packet packet, bool from_a) {
    now_ += from_a == last_from_a_ ? 1'000 : 10'000;
    last_from_a_ = from_a;
    const bool v6 = ids_ == Ids::ipv6;
    const std::string a = v6 ? "fd00::a" : "10.0.0.1", b = v6 ? "fd00::b" : "10.0.0.2";
    packet.source = from_a ? a : b;
    packet.destination = from_a ? b : a;
    packet.dest_qp = from_a ? qp_of_b_ : qp_of_a_;
    if (ids_ == Ids::counted) packet.ip_id = ++next_id_[from_a];
    if (packet.opcode != kCnpOpcode) packet.opcode = static_cast<u8>(packet.opcode | service_ << 5);
    packet.psn &= 0xff'ffff;
    return packet;
  }
  Packet ask(Packet packet) {
    packet.opcode &= 0x1f;
    packet = address_and_number(packet, a_asks_);
    memory_.insert_or_assign({a_asks_, packet.dest_qp, packet.psn}, packet);
    return packet;
  }
  Packet sent(u32 psn) { return ask({.opcode = 0x04, .psn = psn, .payload_size = 64}); }
  const Packet& remembered(u32 psn) const {
    return memory_.at({a_asks_, a_asks_ ? qp_of_b_ : qp_of_a_, psn & 0xff'ffff});
  }
  Packet answer(const Packet& packet) { return address_and_number(packet, !a_asks_); }
  Script& answer_aeth(u32 psn, u8 syndrome) {
    show(answer({.opcode = 0x11, .psn = psn, .syndrome = syndrome}));
    return *this;
  }
  const Read& read_of(u32 psn) const {
    for (std::size_t i = reads_.size(); i-- > 0;) {
      const i32 at = distance(reads_[i].first, Psn(psn));
      if (at >= 0 && static_cast<u32>(at) * mtu_ < std::max(reads_[i].length, 1u)) return reads_[i];
    }
    throw std::logic_error("no READ holds this PSN");
  }
  Packet read_answer(u32 psn) {
    const Read& read = read_of(psn);
    const auto at = static_cast<u32>(distance(read.first, Psn(psn)));
    const u32 left = read.length - at * mtu_;
    const bool first = at == 0, last = left <= mtu_;
    const u8 opcode = first && last ? 0x10 : first ? 0x0d : last ? 0x0f : 0x0e;
    return answer({.opcode = opcode, .psn = psn, .payload_size = std::min(left, mtu_)});
  }
  void show(const Packet& packet) { seen_.push_back({packet, now_}); }

  struct Place {
    bool from_a = true;
    u32 qp = 0, psn = 0;
    auto operator<=>(const Place&) const = default;
  };

  Ids ids_;
  u8 service_;
  u32 mtu_ = kMtu;
  u32 qp_of_a_ = 0x11, qp_of_b_ = 0x22;
  bool a_asks_ = true;
  bool last_from_a_ = true;
  u64 now_ = 1'700'000'000'000'000'000;
  std::array<u16, 2> next_id_ = {1000, 5000};
  std::map<Place, Packet> memory_;
  std::map<u32, Packet> late_;
  std::vector<Read> reads_;
  std::vector<Seen> seen_;
};

}  // namespace roce::test
