// SPDX-License-Identifier: BSD-3-Clause
// Generates a capture of RoCEv2 traffic for benchmarks, and says what is in it.

#include <fmt/core.h>

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string_view>
#include <vector>

#include "bench/traffic.hpp"

namespace {

using namespace bench;

constexpr std::string_view kUsage =
    "usage: generate_capture FILE [--qps N] [--mtu BYTES] [--snap BYTES] [--packets N] [--bytes "
    "N]\n"
    "         [--seed N] [--hosts N] [--burst N] [--loss P] [--ce P] [--noise P] [--v6 P] [--vlan "
    "P]\n"
    "         [--pcapng]\n"
    "Give --packets or --bytes. P is a probability. Prints a JSON object: what the capture "
    "holds.\n";

struct Arguments {
  TrafficOptions traffic;
  u64 snap = 0;
  bool pcapng = false;
};

template <class T>
T number(std::string_view name, std::string_view text, T low, T high) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
    throw std::runtime_error(fmt::format("{} {}: not from {} to {}", name, text, low, high));
  }
  return value;
}

Arguments parse(const std::vector<std::string_view>& words) {
  Arguments parsed;
  TrafficOptions& traffic = parsed.traffic;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view name = words[i];
    if (name == "--pcapng") {
      parsed.pcapng = true;
      continue;
    }
    if (++i == words.size()) throw std::runtime_error(fmt::format("{}: no value", name));
    const std::string_view text = words[i];
    const auto count = [&](u32 low, u32 high) { return number<u32>(name, text, low, high); };
    const auto size = [&] { return number<u64>(name, text, 1, ~0ull); };
    const auto probability = [&] { return number<double>(name, text, 0, 1); };
    // QP numbers have 24 bits, and every connection takes a pair of them.
    if (name == "--qps")
      traffic.qps = count(1, 8'000'000);
    else if (name == "--mtu")
      traffic.mtu = count(256, FrameWriter::kMaxPayload);
    else if (name == "--hosts")
      traffic.hosts = count(2, 1 << 20);
    else if (name == "--burst")
      traffic.burst = count(1, 1 << 20);
    else if (name == "--snap")
      parsed.snap = count(64, 1 << 16);
    else if (name == "--packets")
      traffic.packets = size();
    else if (name == "--bytes")
      traffic.bytes = size();
    else if (name == "--seed")
      traffic.seed = size();
    else if (name == "--loss")
      traffic.loss = probability();
    else if (name == "--ce")
      traffic.ce = probability();
    else if (name == "--noise")
      traffic.noise = probability();
    else if (name == "--v6")
      traffic.v6 = probability();
    else if (name == "--vlan")
      traffic.vlan = probability();
    else
      throw std::runtime_error(fmt::format("{}: no such option", name));
  }
  if (traffic.packets == ~0ull && traffic.bytes == ~0ull) {
    throw std::runtime_error("--packets or --bytes must be given");
  }
  return parsed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]).starts_with("-")) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  try {
    const Arguments arguments = parse({argv + 2, argv + argc});
    const u32 snap = static_cast<u32>(arguments.snap);
    CaptureOutput output(argv[1], arguments.pcapng, snap);
    FrameWriter writer(snap);
    Traffic traffic(arguments.traffic, writer, output);
    traffic.run();
    const Truth& truth = traffic.truth();
    fmt::print(
        R"({{"packets":{},"bytes":{},"roce":{},"acks":{},"naks":{},"cnps":{},"ce_marked":{},)"
        R"("gaps":{},"missing_psns":{},"retransmissions":{},"read_restarts":{}}})"
        "\n",
        truth.packets, output.size(), truth.roce, truth.acks, truth.naks, truth.cnps,
        truth.ce_marked, truth.gaps, truth.missing_psns, truth.retransmissions,
        truth.read_restarts);
    return EXIT_SUCCESS;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "generate_capture: {}\n", problem.what());
    return 2;
  }
}
