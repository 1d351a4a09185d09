// SPDX-License-Identifier: BSD-3-Clause
// path.icmp_unreachable: a host or router said why RoCE packets did not arrive.

#include <map>

#include "findings/detector.hpp"
#include "findings/words.hpp"
#include "roce/net/icmp_error.hpp"

namespace rocetrace {
namespace {

using roce::net::IcmpError;

constexpr FindingKind kKinds[] = {
    {"path.icmp_unreachable",
     Severity::error,
     Urgency::broken,
     "RoCE packets that were sent back",
     "Somebody on the path refused the packets and said so: a firewall (administratively "
     "prohibited), a host without RoCE on that address (port unreachable), a route that is "
     "missing, "
     "a link whose MTU is too small (fragmentation needed).",
     "An ICMP or ICMPv6 error that quotes a datagram to UDP port 4791.",
     "Port unreachable: is the RDMA device up, and RoCEv2 the GID's type? Prohibited: open UDP "
     "port "
     "4791. Too big: lower the path MTU of the queue pairs.",
     {}},
};

class IcmpUnreachable : public Detector {
 public:
  void on_frame(const OtherFrame& frame) override {
    if (frame.at.next != roce::net::kIcmp && frame.at.next != roce::net::kIcmpV6) return;
    const auto error = roce::net::decode_icmp_error(frame.at, frame.path);
    if (!error) return;
    const std::tuple key(std::string(error->source.text().view()),
                         std::string(error->destination.text().view()), error->type, error->code);
    if (errors_.size() >= kMost && !errors_.contains(key)) return;
    Told& told = errors_[key];
    told.error = *error;
    told.capture = frame.capture;
    told.seen.add(frame.number, frame.time);
  }

  void on_end(const TraceView&, Findings& out) override {
    for (const auto& [key, told] : errors_) {
      const IcmpError& error = told.error;
      const std::string_view what = roce::net::icmp_error_name(error.is_v6, error.type, error.code);
      Finding finding{
          &kKinds[0], Severity::error, {Scope::Of::capture, told.capture, 0}, told.seen, {}, {}};
      const std::string from(error.source.text().view()), to(error.destination.text().view());
      finding.text = fmt::format(
          "{} told {} of its RoCE packets to {}: {} ({}){}{}.", error.reporter.text().view(), from,
          to, what, plural(told.seen.count, "message", "messages"),
          error.mtu > 0 ? fmt::format(", the link's MTU being {}", error.mtu) : "",
          error.bth ? fmt::format("; one was for QP {:#x}", u32{error.bth->dest_qp}) : "");
      finding.evidence = {{"reason", std::string(what)},
                          {"reporter", std::string(error.reporter.text().view())},
                          {"source", from},
                          {"destination", to},
                          {"source_port", u64{error.source_port}},
                          {"icmp_type", u64{error.type}},
                          {"icmp_code", u64{error.code}}};
      if (error.mtu > 0) finding.evidence.emplace_back("mtu", u64{error.mtu});
      if (error.bth) finding.evidence.emplace_back("dest_qp", u64{error.bth->dest_qp});
      out.found.push_back(std::move(finding));
    }
  }

 private:
  static constexpr std::size_t kMost = 256;
  struct Told {
    IcmpError error;
    u16 capture = 0;
    Sightings seen;
  };
  std::map<std::tuple<std::string, std::string, u8, u8>, Told> errors_;
};

}  // namespace

extern const CatalogEntry kPathIcmp;
constinit const CatalogEntry kPathIcmp = {kKinds, nullptr, make_detector<IcmpUnreachable>};

}  // namespace rocetrace
