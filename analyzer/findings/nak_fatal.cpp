// SPDX-License-Identifier: BSD-3-Clause
// nak.invalid_request, nak.remote_access, nak.remote_operational: the NAKs that end a queue pair,
// with the request that earned them.

#include <unordered_map>

#include "findings/cases.hpp"
#include "findings/detector.hpp"
#include "findings/request_ring.hpp"
#include "findings/words.hpp"
#include "roce/opcode.hpp"

namespace rocetrace {
namespace {

using roce::NakCode;
using roce::flow::HalfFlow;

constexpr FindingKind kKinds[] = {
    {"nak.invalid_request",
     Severity::error,
     Urgency::dead,
     "Requests that the responder refused",
     "The responder could not take the request as it was: a message longer than its receive "
     "buffer, a path MTU that differs between the ends, an operation that the queue pair does not "
     "allow, more READs at a time than agreed.",
     "A NAK with code 1 (IBTA vol 1, 9.7.5.2.8).",
     "Compare path MTU, receive buffer sizes and max_dest_rd_atomic of both ends with the "
     "offending "
     "request.",
     {Need::answers}},
    {"nak.remote_access",
     Severity::error,
     Urgency::dead,
     "Requests to memory that is not theirs",
     "The R_Key, the address range or the access rights did not fit: a stale or wrong key, a "
     "length past the end of the memory region, a region or queue pair without remote write or "
     "read permission, memory deregistered too early.",
     "A NAK with code 2 (IBTA vol 1, 9.7.5.2.8).",
     "Look up the R_Key and the address range below in the responder's application: which region, "
     "with which access flags, was registered, and until when?",
     {Need::answers}},
    {"nak.remote_operational",
     Severity::error,
     Urgency::dead,
     "Responders that failed",
     "The responder met an error of its own while it worked on the request: no resources, a "
     "catastrophic error of its NIC or memory.",
     "A NAK with code 3 (IBTA vol 1, 9.7.5.2.8).",
     "Look at the responder's kernel log and the NIC's health counters.",
     {Need::answers}},
};
constexpr std::array kWhat = {Happening::invalid_request_nak, Happening::remote_access_nak,
                              Happening::remote_operational_nak};

class FatalNak : public Detector {
 public:
  void on_packet(const Event& event) override {
    const roce::Syndrome syndrome(event.packet.syndrome());
    if (!event.packet.has(roce::flow::kHasAeth) || !syndrome.is_nak()) return;
    const NakCode code = syndrome.nak_code();
    if (code == NakCode::sequence || event.arrival.flow == 0 || first_.size() >= kMost) return;
    if (first_.contains(event.arrival.flow)) return;
    first_[event.arrival.flow] = {event.packet.psn, event.offending};
  }

  void on_end(const TraceView& trace, Findings& out) override {
    for (std::size_t i = 0; i < std::size(kKinds); i++) {
      std::vector<Case> cases;
      trace.each_flow([&](const HalfFlow& flow) {
        const Sightings& seen = trace.log(flow).of(kWhat[i]);
        if (seen.count == 0) return;
        cases.push_back({flow.id, Severity::error, static_cast<double>(seen.count), seen});
      });
      report_cases(
          trace, kKinds[i], std::move(cases), [&](const Case& one) { return tell(trace, one, i); },
          out);
    }
  }

 private:
  static constexpr std::size_t kMost = 4096;  // half-flows
  struct First {
    u32 psn = 0;
    std::optional<RequestHeader> request;
  };

  // The NAK travels in the other direction than the request; the finding tells of the requester.
  Told tell(const TraceView& trace, const Case& one, std::size_t kind) const {
    const HalfFlow& answers = trace.flow(one.half_flow);
    const HalfFlow* asker = trace.partner(answers);
    const HalfFlow& named = asker ? *asker : answers;
    const auto first = first_.find(answers.id);
    const u32 psn = first != first_.end() ? first->second.psn : 0;
    Told told{"", identity(trace, named)};
    told.text =
        fmt::format("{} answered {} with {} \"{}\" for PSN {} in frame {}",
                    trace.address(answers.key.source), name_of(trace, named),
                    one.seen.count == 1 ? "a NAK" : fmt::format("{} NAKs", one.seen.count),
                    roce::nak_text(static_cast<NakCode>(kind + 1)), psn, one.seen.first_frame);
    told.evidence.emplace_back("nak_psn", u64{psn});
    told.evidence.emplace_back("nak_frame", one.seen.first_frame);
    if (first != first_.end() && first->second.request) {
      const RequestHeader& request = *first->second.request;
      const roce::OpcodeInfo& info = roce::kOpcodes[request.opcode];
      told.text += fmt::format(
          ": the request was {} {} of {} bytes at address {:#x} with R_Key "
          "{:#x} (frame {})",
          info.service, info.name, human::grouped(request.length), request.va, request.rkey,
          request.frame);
      told.evidence.emplace_back("request_opcode", fmt::format("{} {}", info.service, info.name));
      told.evidence.emplace_back("request_frame", request.frame);
      told.evidence.emplace_back("va", request.va);
      told.evidence.emplace_back("rkey", u64{request.rkey});
      told.evidence.emplace_back("length", u64{request.length});
    } else {
      told.text += "; the request's address and key were not captured, or it carries none";
    }
    told.text += '.';
    return told;
  }

  std::unordered_map<u32, First> first_;  // by half-flow that carries the NAKs
};

}  // namespace

extern const CatalogEntry kFatalNak;
constinit const CatalogEntry kFatalNak = {kKinds, nullptr, make_detector<FatalNak>};

}  // namespace rocetrace
