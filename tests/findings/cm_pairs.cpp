// SPDX-License-Identifier: BSD-3-Clause
// Findings of the communication manager's messages, each with its relative. The messages are real:
// those of a sample, with some left out or moved.

#include "pairs.hpp"
#include "roce/wire/mad.hpp"

namespace rocetrace::test {
namespace {

using roce::CmKind;

/// A frame of a sample, and which message of the communication manager's it holds, if any.
struct Taken {
  Buffer frame;
  std::chrono::nanoseconds time{};
  std::optional<CmKind> kind;
  bool acknowledge = false;
};

// The samples are Ethernet with IPv4 without options.
std::vector<Taken> taken_from(const std::string& name) {
  constexpr std::size_t kBth = 14 + 20 + 8, kMad = kBth + 12 + 8;
  const roce::test::PcapFile file(std::string(ROCETRACE_SOURCE_DIR "/samples/") + name);
  std::vector<Taken> out;
  for (const auto& captured : file.frames()) {
    const roce::Bytes bytes = file.bytes(captured);
    Taken taken{Buffer(bytes.begin(), bytes.end()),
                std::chrono::nanoseconds(captured.time - file.frames()[0].time), std::nullopt};
    const auto bth = roce::read<roce::Bth>(bytes.subspan(std::min(bytes.size(), kBth)));
    const auto mad = roce::read<roce::Mad>(bytes.subspan(std::min(bytes.size(), kMad)));
    if (bth && mad && bth->dest_qp == 1u) taken.kind = CmKind{u16{mad->attribute}};
    taken.acknowledge = bth && bth->opcode == 0x11;
    out.push_back(std::move(taken));
  }
  return out;
}

// Takes what `keep` says, `keep` seeing the frames in their order and changing them as it likes.
template <class Keep>
Report with(const std::string& name, Keep keep, std::size_t snap = 65535) {
  Frames frames;
  for (Taken& taken : taken_from(name))
    if (keep(taken)) frames.add(std::move(taken.frame), taken.time, snap);
  return analyzed(frames);
}

Report tried_twice(bool answered) {
  Frames frames;
  for (const Taken& taken : taken_from("clean_rdma_cm.pcap")) {
    if (taken.kind == CmKind::req)
      frames.add(taken.frame, 0s).add(taken.frame, 4s);
    else if (answered && taken.kind == CmKind::rep)
      frames.add(taken.frame, 4100ms);
  }
  return analyzed(frames);
}

// The REP comes `later` than it did; all that follows as well.
Report slow_by(std::chrono::nanoseconds later) {
  return with("clean_rdma_cm.pcap", [later](Taken& taken) {
    if (taken.kind != CmKind::req) taken.time += later;
    return true;
  });
}

// Without the last ACK in front of the DREQ, or with it.
Report closed(bool with_last_ack) {
  std::size_t last = 0, at = 0;
  for (const Taken& taken : taken_from("clean_rdma_cm.pcap")) {
    if (taken.acknowledge) last = at;
    at++;
  }
  at = 0;
  return with("clean_rdma_cm.pcap", [&](Taken&) { return at++ != last || with_last_ack; });
}

Report rejected_by_the_application() {
  return with(
      "cm_reject.pcap",
      [](Taken& taken) {
        constexpr std::size_t kReason = 62 + sizeof(roce::Mad) + 10;
        if (taken.kind == CmKind::rej) roce::test::put_at(taken.frame, kReason, 28, 2);
        return true;
      },
      300);  // the ICRC would tell of the change
}

}  // namespace

TEST(Settings, SayHowLongAConnectionRequestMayWait) {
  const auto one_request = [](const char* setting) {
    Frames frames;
    for (const Taken& taken : taken_from("clean_rdma_cm.pcap"))
      if (taken.kind == CmKind::req) frames.add(taken.frame, 0s);
    frames.add(Ends{}.send(0), 3s);
    Options options;
    options.settings = {setting};
    return has(analyzed(frames, options), "cm.no_reply");
  };
  EXPECT_TRUE(one_request("cm.no_reply.wait=2s"));
  EXPECT_FALSE(one_request("cm.no_reply.wait=4s"));
}

Pairs cm_pairs() {
  return {
      {.id = "cm.no_reply",
       .has = [] { return tried_twice(false); },
       .has_not = [] { return tried_twice(true); },
       .severity = "error",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 2,
       .first_frame = 1,
       .evidence = {{"attempts", "1"}, {"source_qp", "17"}},
       .says = {"10.0.0.1 QP 0x11 -> 10.0.0.2 port ", "2 REQs sent, and no answer"},
       .others_without = {"cm.slow"}},
      {.id = "cm.rejected",
       .has = [] { return sample("cm_reject.pcap"); },
       .has_not = [] { return sample("clean_rdma_cm.pcap"); },
       .severity = "error",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 1,
       .first_frame = 1,
       .evidence = {{"reason_code", "8"}, {"rejected_by", "10.0.0.2"}, {"attempts", "1"}},
       .says = {"10.0.0.2 rejected the connection, reason 8: invalid service ID: nobody listens",
                "10.0.0.2 port 7777"}},
      {.id = "cm.rejected",
       .has = rejected_by_the_application,
       .has_not = [] { return tried_twice(true); },
       .severity = "error",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 1,
       .first_frame = 1,
       .evidence = {{"reason_code", "28"}},
       .says = {"reason 28: rejected by the application"},
       .others_without = {"cm.slow"}},
      {.id = "cm.slow",
       .has = [] { return slow_by(1s); },
       .has_not = [] { return slow_by(500ms); },
       .severity = "warning",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 1,
       .first_frame = 1,
       .evidence = {{"reply_ns", "1144236559"}},
       .says = {"the REP came 1.14 s after the REQ (1 REQ)"}},
      {.id = "cm.disconnect_with_outstanding",
       .has = [] { return closed(false); },
       .has_not = [] { return closed(true); },
       .severity = "warning",
       .scope = "hosts 10.0.0.1 10.0.0.2",
       .count = 1,
       .first_frame = 1,
       .says = {"with 1 message not answered"}},
  };
}

}  // namespace rocetrace::test
