// SPDX-License-Identifier: BSD-3-Clause
// icrc.rewritten: ICRCs that are right again once a known change of the packet is undone.
//
// The ICRC covers all that no hop may change, so a device that changes more than it may leaves its
// mark: with the old value put back, the ICRC fits. A CRC is linear, so which value of a field
// makes it fit is solved for, not searched.

#include <map>

#include "findings/detector.hpp"
#include "findings/words.hpp"
#include "roce/icrc.hpp"
#include "roce/net/observe.hpp"

namespace rocetrace {
namespace {

using roce::Bytes;

constexpr FindingKind kKinds[] = {
    {"icrc.rewritten",
     Severity::warning,
     Urgency::setting,
     "A device rewrites RoCE packets",
     "Something on the path, or the mirror, changes a field that the ICRC covers: a NAT, a load "
     "balancer, an in-network computation, a normaliser that clears IP identifications. Receivers "
     "drop such packets, unless the ICRC check is off.",
     "At least 8 packets of one sender whose wrong ICRC becomes right with one and the same field "
     "set to another value (a 16-bit field would fit by chance once in 65536 packets).",
     "Find the device that changes that field, and exempt UDP port 4791 from it; if it is the "
     "mirror, only this capture is wrong.",
     {Need::whole_packets}},
};

/// A 16-bit field that devices are known to rewrite; `offset` from the IP header, or the BTH.
struct Field {
  std::string_view name;
  bool in_bth = false;
  u8 ipv4_at = 0;  // 0: not in this version
  u8 ipv6_at = 0;
};
constexpr Field kFields[] = {
    {"the IP identification", false, 4, 0},
    {"the IP flags (do not fragment)", false, 6, 0},
    {"the UDP source port", false, 20, 40},
    {"the P_Key", true, 2, 2},
    {"the low half of the source address", false, 14, 22},
    {"the low half of the destination address", false, 18, 38},
};

// The value that `at` would need for the packet's ICRC to be right, if there is one.
std::optional<u16> value_that_fits(std::vector<u8>& frame, const roce::net::Located& located,
                                   std::size_t at) {
  const std::size_t end = std::size_t{located.bth_offset} + located.bth_size;
  const u32 stored = *roce::read<roce::be32>(Bytes(frame).subspan(end - roce::kIcrcSize));
  const u32 wrong = roce::icrc(frame, located) ^ stored;
  // What flipping each bit of the field does to the ICRC, brought into echelon form.
  struct Row {
    u32 effect = 0;
    u16 bits = 0;
  };
  std::array<Row, 32> basis{};
  for (unsigned bit = 0; bit < 16; bit++) {
    const auto mask = static_cast<u8>(1u << (bit & 7));
    u8& byte = frame[at + (bit < 8 ? 1 : 0)];
    const u32 base = roce::icrc(frame, located);
    byte ^= mask;
    Row row{roce::icrc(frame, located) ^ base, static_cast<u16>(1u << bit)};
    byte ^= mask;
    for (unsigned i = 32; i-- > 0 && row.effect != 0;) {
      if (!(row.effect >> i & 1)) continue;
      if (basis[i].effect == 0) {
        basis[i] = row;
        break;
      }
      row.effect ^= basis[i].effect;
      row.bits ^= basis[i].bits;
    }
  }
  u32 left = wrong;
  u16 flipped = 0;
  for (unsigned i = 32; i-- > 0;) {
    if (!(left >> i & 1) || basis[i].effect == 0) continue;
    left ^= basis[i].effect;
    flipped ^= basis[i].bits;
  }
  if (left != 0 || flipped == 0) return std::nullopt;
  return static_cast<u16>((frame[at] << 8 | frame[at + 1]) ^ flipped);
}

class Rewritten : public Detector {
 public:
  void on_packet(const Event& event) override {
    if (!event.packet.has(roce::flow::kIcrcBad)) return;
    Sender& sender = senders_[event.packet.source];
    if (sender.tried >= kMostTries || senders_.size() > kMostSenders) return;
    roce::flow::Observation ignored;
    roce::net::Located located;
    roce::net::AddressTable addresses;
    if (roce::net::observe_frame(event.bytes, event.wire_size, event.link_type, addresses, ignored,
                                 located) != roce::net::Sighting::roce ||
        !located.has_icrc || located.version != 2)
      return;
    sender.tried++;
    std::vector<u8> frame(event.bytes.begin(), event.bytes.end());
    const bool ipv4 = frame[located.network_offset] >> 4 == 4;
    for (std::size_t i = 0; i < std::size(kFields); i++) {
      const std::size_t inside = ipv4 ? kFields[i].ipv4_at : kFields[i].ipv6_at;
      if (inside == 0) continue;
      const std::size_t at =
          (kFields[i].in_bth ? located.bth_offset : located.network_offset) + inside;
      const auto value = value_that_fits(frame, located, at);
      if (!value) continue;
      Fit& fit = sender.fits[i];
      fit.seen.add(event.packet.frame, event.packet.time);
      fit.was = *value;
      fit.is = static_cast<u16>(frame[at] << 8 | frame[at + 1]);
    }
  }

  void on_end(const TraceView& trace, Findings& out) override {
    for (const auto& [address, sender] : senders_) {
      for (const auto& [field, fit] : sender.fits) {
        if (fit.seen.count < kFew || 4 * fit.seen.count < 3 * sender.tried) continue;
        Finding finding{&kKinds[0], Severity::warning, {Scope::Of::host, address, 0}, fit.seen, {},
                        {}};
        finding.text = fmt::format(
            "{} of {} with a wrong ICRC from {} are right when {} is put back; in frame {} from "
            "{:#06x} to {:#06x}.",
            fit.seen.count, packets(sender.tried), trace.address(address), kFields[field].name,
            fit.seen.last_frame, fit.is, fit.was);
        finding.evidence = {{"sender", trace.address(address)},
                            {"field", std::string(kFields[field].name)},
                            {"explained", fit.seen.count},
                            {"tried", sender.tried}};
        out.found.push_back(std::move(finding));
      }
    }
  }

 private:
  static constexpr u64 kFew = 8;
  static constexpr u64 kMostTries = 64;  // packets of a sender
  static constexpr std::size_t kMostSenders = 4096;
  struct Fit {
    Sightings seen;
    u16 was = 0, is = 0;
  };
  struct Sender {
    u64 tried = 0;
    std::map<std::size_t, Fit> fits;  // by field
  };
  std::map<u32, Sender> senders_;  // by address id
};

}  // namespace

extern const CatalogEntry kIcrcRewritten;
constinit const CatalogEntry kIcrcRewritten = {kKinds, nullptr, make_detector<Rewritten>};

}  // namespace rocetrace
