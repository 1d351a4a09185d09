// SPDX-License-Identifier: BSD-3-Clause
// A pcap filter ("udp port 4791 and host 10.0.0.1"), as tcpdump knows it, on captured frames.

#pragma once

#include <memory>
#include <string>

#include "capture/frame.hpp"

namespace rocetrace {

class FrameFilter {
 public:
  /// Throws std::runtime_error, with libpcap's explanation, for an expression that no link type
  /// understands.
  explicit FrameFilter(std::string expression);
  FrameFilter(FrameFilter&&) noexcept;
  FrameFilter& operator=(FrameFilter&&) noexcept;
  ~FrameFilter();

  /// Whether the frame passes, judged by what was captured of it. As in tcpdump, "udp port 4791"
  /// alone does not look behind VLAN tags or into tunnels. Throws std::runtime_error if the
  /// expression makes no sense for the frame's link type.
  bool passes(const Frame& frame);

  /// Takes the frames that do not pass out of the batch; those that stay keep their numbers.
  void apply(FrameBatch& batch);

 private:
  struct Program;
  const Program& program_for(roce::u16 link_type);

  std::string expression_;
  std::vector<std::unique_ptr<Program>> programs_;  // one per link type met; few, so searched
};

}  // namespace rocetrace
