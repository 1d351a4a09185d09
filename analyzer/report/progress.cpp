// SPDX-License-Identifier: BSD-3-Clause
// A bar on standard error. See progress.hpp.

#include "report/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "report/human.hpp"

namespace rocetrace {
namespace {

constexpr std::size_t kBarWidth = 30;
constexpr std::string_view kEraseLine = "\r\x1b[K";

// A bar that cannot be drawn is no reason to stop.
void show(std::string_view text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Progress::Progress(bool wanted)
    : next_{start_ + std::chrono::seconds{1}}, wanted_{wanted && ::isatty(STDERR_FILENO) == 1} {}

void Progress::update(std::uint64_t bytes_done, std::uint64_t bytes_total, std::uint64_t packets) {
  if (!wanted_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds{100};
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string counts = fmt::format("{} packets, {}/s", human::count(packets),
                                         human::count(static_cast<double>(packets) / seconds));
  if (bytes_total == 0) {
    show(fmt::format("{}{}, {}", kEraseLine, human::bytes(bytes_done), counts));
    return;
  }
  const double share =
      std::min(1.0, static_cast<double>(bytes_done) / static_cast<double>(bytes_total));
  const auto full = static_cast<std::size_t>(share * kBarWidth);
  const double left = share > 0 ? seconds / share - seconds : 0;
  show(fmt::format("{}[{}{}] {:3.0f} %  {}, {:.0f} s left", kEraseLine, std::string(full, '#'),
                   std::string(kBarWidth - full, '.'), share * 100, counts, left));
}

void Progress::clear() {
  if (shown_) show(kEraseLine);
  shown_ = false;
}

}  // namespace rocetrace
