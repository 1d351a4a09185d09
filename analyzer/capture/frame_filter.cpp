// SPDX-License-Identifier: BSD-3-Clause
// Compiles the expression once per link type, since each lays its frames out differently.

#include "capture/frame_filter.hpp"

#include <fmt/format.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "capture/info.hpp"

namespace rocetrace {
namespace {

using roce::u16;
using roce::u32;

constexpr int kSnapLength = 262144;
constexpr u16 kEthernet = 1;
constexpr u16 kLinuxCooked = 113;
constexpr u16 kRawIp = 101;  // the one link type whose number differs from libpcap's DLT_ number

struct Close {
  void operator()(pcap_t* handle) const { pcap_close(handle); }
};

}  // namespace

struct FrameFilter::Program {
  u16 link_type = 0;
  bpf_program code{};

  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() { pcap_freecode(&code); }

  /// Nothing if it worked; otherwise libpcap's reason.
  std::optional<std::string> compile(const std::string& expression) {
    const std::unique_ptr<pcap_t, Close> handle(
        pcap_open_dead(link_type == kRawIp ? DLT_RAW : link_type, kSnapLength));
    if (!handle) return "no memory";
    if (pcap_compile(handle.get(), &code, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) == 0) {
      return std::nullopt;
    }
    return pcap_geterr(handle.get());
  }
};

FrameFilter::FrameFilter(FrameFilter&&) noexcept = default;
FrameFilter& FrameFilter::operator=(FrameFilter&&) noexcept = default;
FrameFilter::~FrameFilter() = default;

FrameFilter::FrameFilter(std::string expression) : expression_(std::move(expression)) {
  // Ethernet first: its explanation is the one to show. Cooked captures know some words more.
  std::optional<std::string> reason;
  for (const u16 link_type : {kEthernet, kLinuxCooked}) {
    auto program = std::make_unique<Program>();
    program->link_type = link_type;
    const std::optional<std::string> failure = program->compile(expression_);
    if (!failure) {
      programs_.push_back(std::move(program));
      return;
    }
    if (!reason) reason = failure;
  }
  throw std::runtime_error(fmt::format("filter '{}': {}", expression_, *reason));
}

const FrameFilter::Program& FrameFilter::program_for(u16 link_type) {
  const auto known = std::ranges::find(programs_, link_type,
                                       [](const auto& program) { return program->link_type; });
  if (known != programs_.end()) return **known;
  auto program = std::make_unique<Program>();
  program->link_type = link_type;
  if (const auto reason = program->compile(expression_)) {
    throw std::runtime_error(
        fmt::format("filter '{}' on {}: {}", expression_, link_type_name(link_type), *reason));
  }
  return *programs_.emplace_back(std::move(program));
}

bool FrameFilter::passes(const Frame& frame) {
  const Program& program = program_for(frame.link_type);
  return bpf_filter(program.code.bf_insns, frame.bytes.data(), frame.wire_size,
                    static_cast<u32>(frame.bytes.size())) != 0;
}

void FrameFilter::apply(FrameBatch& batch) {
  std::erase_if(batch, [this](const Frame& frame) { return !passes(frame); });
}

}  // namespace rocetrace
