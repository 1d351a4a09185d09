// SPDX-License-Identifier: BSD-3-Clause
// What a capture file cannot answer by its nature: capture.snaplen_short,
// capture.coarse_timestamps, capture.time_backwards, capture.cut_short, capture.not_roce.

#include "findings/detector.hpp"
#include "findings/words.hpp"

namespace rocetrace {
namespace {

constexpr FindingKind kKinds[] = {
    {"capture.snaplen_short",
     Severity::info,
     Urgency::fact,
     "Packets were cut by the capture",
     "The capture kept the beginning of each packet only (its snap length), which is enough for "
     "sequence numbers, times and marks. ICRCs cannot be checked, nor payloads shown.",
     "Packets of which fewer bytes were kept than they had.",
     "Nothing, unless damage on the wire is suspected: then capture whole packets.",
     {}},
    {"capture.coarse_timestamps",
     Severity::info,
     Urgency::setting,
     "Times are coarse",
     "The clock of the capture is too coarse, or it stamps packets in batches: latencies, rates "
     "and "
     "the order of events within such a step mean little.",
     "More than capture.coarse.share (30 %) of the packets have the time of the one before.",
     "Capture with nanosecond times (tcpdump --time-stamp-precision=nano) and hardware time stamps "
     "(-j adapter_unsynced), or without interrupt coalescing.",
     {}},
    {"capture.time_backwards",
     Severity::info,
     Urgency::setting,
     "Time goes backwards",
     "Several receive queues or interfaces were merged without sorting, or the clock was set while "
     "the capture ran. Intervals around such places are wrong.",
     "A packet's time is before that of the packet in front of it in the same file; or a file of a "
     "ring, by its name, begins more than 300 ms before the one in front of it ended. Then the "
     "order of packets means nothing, and what needs it is not judged.",
     "Sort with reordercap, or capture with one clock. A file whose clock was wrong: editcap -t.",
     {}},
    {"capture.cut_short",
     Severity::info,
     Urgency::setting,
     "The capture file is damaged",
     "The program that wrote it was killed, the disk was full, the copy is not complete, or it is "
     "still being written. What could be read was analyzed.",
     "The file ends inside a record, or holds bytes that are no record.",
     "Copy it again, or wait until the capture has ended.",
     {}},
    {"capture.not_roce",
     Severity::info,
     Urgency::setting,
     "Datagrams on port 4791 that are no RoCE",
     "Some program uses UDP port 4791 for something else, most often a client that got it as its "
     "own port. A NIC that does RDMA may take such datagrams for RoCE and drop them.",
     "UDP datagrams to port 4791 that cannot be a RoCE packet: too short, a length that is no "
     "multiple of 4, a header version that does not exist.",
     "Find the program by its addresses, and reserve the port "
     "(net.ipv4.ip_local_reserved_ports=4791).",
     {}},
};
enum : std::size_t { kSnaplen, kCoarse, kBackwards, kCutShort, kNotRoce };

class FileFindings {
 public:
  FileFindings(u32 index, Findings& out) : index_(index), out_(out) {}

  void add(std::size_t kind, u64 count, std::string text, Evidence evidence) {
    Finding finding{&kKinds[kind],       kKinds[kind].severity, {Scope::Of::capture, index_, 0}, {},
                    std::move(evidence), std::move(text)};
    finding.seen.count = count;
    out_.found.push_back(std::move(finding));
  }
  void distrust(std::string why, bool heavy = false) {
    out_.distrust.push_back({index_, heavy, std::move(why)});
  }

 private:
  u32 index_;
  Findings& out_;
};

void judge_times(const TraceView& trace, const CaptureFacts& capture, FileFindings& out) {
  const double equal = ratio(capture.equal_times, capture.packets);
  // Of a handful of packets nothing can be said.
  if (capture.packets >= 10 && equal > trace.limit("capture.coarse.share")) {
    out.add(kCoarse, capture.equal_times,
            fmt::format("{} of {} packets have the time of the one before; the clock counts {}.",
                        human::grouped(capture.equal_times), human::grouped(capture.packets),
                        human::duration(std::max<u64>(capture.tick_ns, 1))),
            {{"share", rounded(equal, 4)}, {"tick_ns", capture.tick_ns}});
    out.distrust("Its times are coarse: latencies and rates mean little.");
  }
  if (capture.backward_times > 0) {
    out.add(kBackwards, capture.backward_times,
            fmt::format("{} earlier than the one in front of {}, by up to {}.",
                        plural(capture.backward_times, "packet is", "packets are"),
                        capture.backward_times == 1 ? "it" : "them",
                        human::duration(capture.largest_backward_ns)),
            {{"largest_ns", capture.largest_backward_ns}});
    out.distrust("Its time goes backwards in places.");
  }
}

void judge_place_in_ring(const CaptureFacts& capture, FileFindings& out) {
  if (capture.overlap_ns == 0) return;
  out.add(kBackwards, 1,
          fmt::format("It begins {} before {} ended, the file in front of it by its name.",
                      human::duration(capture.overlap_ns), capture.in_front),
          {{"overlap_ns", capture.overlap_ns}});
  out.distrust("It overlaps the file in front of it: the order of packets means nothing.", true);
}

void judge_file(const TraceView& trace, u32 index, Findings& all) {
  const CaptureFacts& capture = trace.captures[index];
  FileFindings out(index, all);
  if (capture.truncated_packets > 0) {
    out.add(kSnaplen, capture.truncated_packets,
            fmt::format("{} of {} packets were cut.", human::grouped(capture.truncated_packets),
                        human::grouped(capture.packets)),
            {{"packets", capture.packets}});
  }
  judge_times(trace, capture, out);
  judge_place_in_ring(capture, out);
  if (capture.cut_short || capture.damages > 0) {
    out.add(
        kCutShort, std::max<u64>(capture.damages, 1),
        fmt::format(
            "{}{}.", capture.cut_short ? "The file ends inside a record" : "The file is damaged",
            capture.damaged_bytes > 0
                ? fmt::format("; {} could not be read in {}", human::bytes(capture.damaged_bytes),
                              plural(capture.damages, "place", "places"))
                : ""),
        {{"damages", capture.damages}, {"damaged_bytes", capture.damaged_bytes}});
    // A file cut at its very end lost no more than a packet.
    if (capture.damaged_bytes > 0)
      out.distrust("Parts of the file could not be read: packets of them are missing.");
  }
  if (capture.not_roce_on_4791 > 0) {
    out.add(kNotRoce, capture.not_roce_on_4791,
            fmt::format("{} to UDP port 4791 {} no RoCE.",
                        plural(capture.not_roce_on_4791, "datagram", "datagrams"),
                        capture.not_roce_on_4791 == 1 ? "is" : "are"),
            {{"roce_packets", capture.roce_packets}});
  }
}

void judge(const TraceView& trace, Findings& out) {
  for (u32 i = 0; i < trace.captures.size(); i++) judge_file(trace, i, out);
  if (!trace.shuffled) return;
  for (const char* id : {"loss.retransmission", "loss.reordering", "loss.unrecovered", "stall"})
    out.unjudged.push_back({id, "Files of a ring overlap in time: what came first is not known."});
}

}  // namespace

extern const CatalogEntry kCaptureFile;
constinit const CatalogEntry kCaptureFile = {kKinds, judge};

}  // namespace rocetrace
