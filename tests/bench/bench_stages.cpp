// SPDX-License-Identifier: BSD-3-Clause
// What each stage of the analysis costs on one capture, in one process, stages taking turns.
//
// Every stage holds those before it: the differences between lines are the stages' own costs. CPU
// time, not wall time, and medians of the rounds, because machines share caches and change speed.

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "capture/capture.hpp"
#include "decode.hpp"
#include "roce/flow/tracker.hpp"

namespace {

using namespace roce;
using rocetrace::Capture;
using rocetrace::Decoder;
using rocetrace::Frame;
using rocetrace::FrameBatch;

/// What a stage saw: printed, so that no compiler may leave the work out.
struct Seen {
  u64 packets = 0;
  u64 digest = 0;
};

/// As `cat` does it. Counts no packets.
Seen read_bytes(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error(path + ": cannot be opened");
  std::vector<char> buffer(128 << 10);
  Seen seen;
  ssize_t count;
  while ((count = read(file, buffer.data(), buffer.size())) > 0) {
    seen.digest += static_cast<u64>(count);
  }
  close(file);
  return seen;
}

template <class Use>
Seen for_each_batch(const std::string& path, Use use) {
  Capture capture(path);
  FrameBatch batch;
  Seen seen;
  while (capture.next(batch)) {
    seen.packets += batch.size();
    use(batch, seen);
  }
  return seen;
}

Seen read_records(const std::string& path) {
  return for_each_batch(path, [](const FrameBatch& batch, Seen& seen) {
    for (const Frame& frame : batch) seen.digest += frame.wire_size ^ frame.time;
  });
}

Seen decode(const std::string& path) {
  Decoder decoder;
  return for_each_batch(path, [&](const FrameBatch& batch, Seen& seen) {
    for (const flow::Observation& packet : decoder.decode(batch)) {
      seen.digest += packet.psn ^ packet.dest_qp;
    }
  });
}

Seen track(const std::string& path) {
  Decoder decoder;
  flow::Tracker tracker;
  std::array<flow::Arrival, rocetrace::kBatchFrames> arrivals;
  return for_each_batch(path, [&](const FrameBatch& batch, Seen& seen) {
    const auto packets = decoder.decode(batch);
    tracker.observe(packets, arrivals);
    for (std::size_t i = 0; i < packets.size(); ++i) seen.digest += arrivals[i].flow;
  });
}

struct Stage {
  const char* name;
  Seen (*run)(const std::string& path);
};

constexpr std::array kStages = {
    Stage{"read(2)", read_bytes},
    Stage{"records", read_records},
    Stage{"records, decode", decode},
    Stage{"records, decode, track", track},
};

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void measure(const std::string& path, int rounds) {
  std::array<std::vector<double>, kStages.size()> seconds;
  std::array<Seen, kStages.size()> seen;
  for (int round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < kStages.size(); ++i) {
      const double start = cpu_seconds();
      seen[i] = kStages[i].run(path);
      // The first round only warms the caches.
      if (round > 0) seconds[i].push_back(cpu_seconds() - start);
    }
  }
  const double packets = std::max(1.0, static_cast<double>(seen[1].packets));
  fmt::print("{:<24}{:>10}{:>16}{:>12}\n", "stage", "ns/packet", "packets/s", "x read(2)");
  double base = 0;
  for (std::size_t i = 0; i < kStages.size(); ++i) {
    std::vector<double>& of = seconds[i];
    std::ranges::nth_element(of, of.begin() + std::ssize(of) / 2);
    const double median = of[of.size() / 2];
    if (i == 0) base = median;
    fmt::print("{:<24}{:>10.1f}{:>16.0f}{:>12.2f}   digest {:x}\n", kStages[i].name,
               median / packets * 1e9, packets / median, median / base, seen[i].digest);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "usage: bench_stages CAPTURE [ROUNDS]\n");
    return 2;
  }
  try {
    measure(argv[1], argc == 3 ? std::max(1, std::stoi(argv[2])) : 5);
  } catch (const std::exception& problem) {
    fmt::print(stderr, "bench_stages: {}\n", problem.what());
    return 2;
  }
}
