// SPDX-License-Identifier: BSD-3-Clause
// retry.exhausted: a requester that tried again and again, and gave up. The application sees
// "transport retry counter exceeded" or "RNR retry counter exceeded", and a dead queue pair.

#include "findings/cases.hpp"
#include "findings/deaths.hpp"
#include "findings/detector.hpp"
#include "findings/talkers.hpp"
#include "findings/words.hpp"
#include "roce/cm_message.hpp"

namespace rocetrace {
namespace {

constexpr FindingKind kKinds[] = {
    {"retry.exhausted",
     Severity::error,
     Urgency::dead,
     "A queue pair gave up",
     "The requester used up its retries: its application got a completion with an error, and the "
     "queue pair is dead. This is where an application's hang or abort begins.",
     "One PSN was sent again at least 3 times without progress, and then nothing more came for 4 "
     "times the last gap between tries, or the connection was closed. For a single RNR NAK that no "
     "retry followed, the silence has to be 8 times its timer. The completion's error is 13 "
     "(IBV_WC_RNR_RETRY_EXC_ERR, RNR retry counter exceeded) when an RNR NAK was the last that "
     "came "
     "back, and 12 (IBV_WC_RETRY_EXC_ERR, transport retry counter exceeded) when nothing answered "
     "the last tries.",
     "Ask whether the peer lives and whether its path does: path.one_way (never an answer) and "
     "path.responses_stopped (answers stopped) say which. With RNR NAKs the responder's "
     "application "
     "posted no receive buffers in time: raise rnr_retry (7 is endless) or post more of them.",
     {Need::every_packet, Need::one_tap, Need::times}},
};

std::string times_of(const ResendSeries& series) {
  std::string text;
  u64 before = series.sent_before;
  for (std::size_t i = 0; i < series.kept(); i++) {
    if (before != 0 && series.times[i] >= before)
      text +=
          fmt::format("{}{}", text.empty() ? "" : ", ", human::duration(series.times[i] - before));
    before = series.times[i];
  }
  return text;
}

// Which error the application sees; an RNR NAK that was not captured would make it the other.
void tell_completion(const InVain& vain, bool answers_show, Told& told) {
  if (vain.completion == GaveUpWith::rnr_retries) {
    told.text += " The completion's error is 13, IBV_WC_RNR_RETRY_EXC_ERR.";
    told.evidence.emplace_back("completion", std::string("IBV_WC_RNR_RETRY_EXC_ERR"));
    told.evidence.emplace_back("completion_status", u64{13});
  } else if (vain.completion == GaveUpWith::transport_retries && answers_show) {
    told.text += " The completion's error is 12, IBV_WC_RETRY_EXC_ERR.";
    told.evidence.emplace_back("completion", std::string("IBV_WC_RETRY_EXC_ERR"));
    told.evidence.emplace_back("completion_status", u64{12});
  } else {
    told.text += fmt::format(
        " Whether the completion's error is 12 (IBV_WC_RETRY_EXC_ERR) or 13 "
        "(IBV_WC_RNR_RETRY_EXC_ERR) cannot be told: {}.",
        answers_show ? "the last try had no answer, the one before an RNR NAK"
                     : "answers were not captured");
  }
}

Told tell(const TraceView& trace, const Case& one, const Talkers& talkers) {
  const auto& flow = trace.flow(one.half_flow);
  const InVain vain = *asked_in_vain(trace, flow, resends_of_exhausted(trace));
  Told told{"", identity(trace, flow)};
  const ResendSeries& series = vain.series;
  told.text = fmt::format("{} gave up: ", name_of(trace, flow));
  if (series.resends > 0) {
    told.text += fmt::format("PSN {} was sent again {} without progress", series.psn,
                             plural(series.resends, "time", "times"));
    const std::string times = times_of(series);
    if (!times.empty()) told.text += fmt::format(" (waits: {})", times);
  } else {
    told.text +=
        fmt::format("after an RNR NAK for PSN {} no retry came", trace.log(flow).last_rnr_psn());
  }
  if (vain.not_ready)
    told.text += fmt::format(
        ", the responder not {} (RNR timer {})",
        vain.completion == GaveUpWith::rnr_retries ? "being ready" : "having been ready before",
        human::duration(trace.log(flow).last_rnr_timer()));
  told.text += vain.disconnected != 0 ? fmt::format(", then the connection was closed {}",
                                                    moment(trace, vain.disconnected))
                                      : fmt::format(", then nothing for {} to the end of the trace",
                                                    human::duration(vain.silence));
  if (vain.last_answer != 0) {
    told.text += fmt::format("; the last answer came {}", moment(trace, vain.last_answer));
  } else {
    told.text += "; no answer was ever seen";
  }
  if (flow.requests.acknowledged_any())
    told.text += fmt::format(", and PSN {} was the last that was acknowledged",
                             (flow.requests.una() - 1u).value());
  told.text += '.';
  tell_completion(vain, talkers.would_show(flow), told);

  told.evidence.emplace_back("psn",
                             u64{series.resends > 0 ? series.psn : trace.log(flow).last_rnr_psn()});
  told.evidence.emplace_back("resends", u64{series.resends});
  told.evidence.emplace_back("rnr", vain.not_ready);
  told.evidence.emplace_back("silence_ns", vain.silence);
  told.evidence.emplace_back("last_gap_ns", series.last_gap);
  if (flow.requests.acknowledged_any())
    told.evidence.emplace_back("last_acknowledged_psn", u64{(flow.requests.una() - 1u).value()});
  return told;
}

void judge(const TraceView& trace, Findings& out) {
  std::vector<Case> cases;
  trace.each_flow([&](const auto& flow) {
    const auto vain = asked_in_vain(trace, flow, resends_of_exhausted(trace));
    if (!vain || !vain->gave_up) return;
    Case one{flow.id, Severity::error, static_cast<double>(vain->silence), vain->series.seen};
    if (one.seen.count == 0) one.seen.add(flow.last_frame, flow.last_time);
    cases.push_back(one);
  });
  if (cases.empty()) return;
  const Talkers talkers(trace);
  const Tell teller = [&](const Case& one) { return tell(trace, one, talkers); };
  report_cases(trace, kKinds[0], std::move(cases), teller, out);
}

}  // namespace

extern const CatalogEntry kRetryExhausted;
constinit const CatalogEntry kRetryExhausted = {kKinds, judge};

}  // namespace rocetrace
