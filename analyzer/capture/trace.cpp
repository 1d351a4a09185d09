// SPDX-License-Identifier: BSD-3-Clause
// The merge. A file whose time has not come is parked, closed, if there are many: a ring of
// thousands of files must not need thousands of descriptors.

#include "capture/trace.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <stdexcept>

namespace rocetrace {
namespace {

constexpr std::size_t kOpenCaptures = 32;

bool can_be_reopened(const std::string& path) {
  struct stat status {};
  return path != "-" && stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Trace::Trace(const std::vector<std::string>& files) : inputs_(files.size()) {
  if (files.size() > kMaxCaptures) throw std::runtime_error("too many capture files");
  for (std::size_t i = 0; i < files.size(); ++i) {
    inputs_[i].file = files[i];
    open(i);
    if (files.size() == 1) return;
    refill(i);
    Input& input = inputs_[i];
    if (input.spent()) continue;
    input.first_time = input.time();
    if (files.size() > kOpenCaptures && can_be_reopened(files[i])) park(input);
    wait(i);
  }
}

bool Trace::next(FrameBatch& batch) {
  if (inputs_.size() == 1) return inputs_.front().capture->next(batch);
  batch.clear();
  if (used_up_) {
    refill(*used_up_);
    if (!inputs_[*used_up_].spent()) wait(*used_up_);
    used_up_.reset();
  }
  while (!waiting_.empty() && !used_up_ && batch.size() < kBatchFrames) {
    const std::size_t earliest = take_earliest();
    Input& input = inputs_[earliest];
    if (!input.capture) {
      open(earliest);
      refill(earliest);
      if (input.spent()) continue;  // changed since it was parked
    }
    while (!input.spent() && batch.size() < kBatchFrames &&
           (waiting_.empty() || before(earliest, waiting_.front()))) {
      batch.push_back(input.batch[input.used++]);
      batch.back().number = ++frames_;
    }
    // Its next frames would void those just handed out, so they have to wait for the next call.
    if (input.spent()) {
      used_up_ = earliest;
    } else {
      wait(earliest);
    }
  }
  return !batch.empty();
}

void Trace::open(std::size_t index) {
  Input& input = inputs_[index];
  input.capture = std::make_unique<Capture>(input.file, static_cast<roce::u16>(index));
}

void Trace::refill(std::size_t index) {
  Input& input = inputs_[index];
  input.used = 0;
  if (!input.capture->next(input.batch)) park(input);
}

void Trace::park(Input& input) {
  input.parked = input.capture->info();
  input.capture.reset();
  input.batch = {};
  input.used = 0;
}

bool Trace::before(std::size_t a, std::size_t b) const {
  const roce::u64 time_a = inputs_[a].time();
  const roce::u64 time_b = inputs_[b].time();
  return time_a < time_b || (time_a == time_b && a < b);
}

void Trace::wait(std::size_t index) {
  waiting_.push_back(index);
  std::ranges::push_heap(waiting_, [this](auto a, auto b) { return before(b, a); });
}

std::size_t Trace::take_earliest() {
  std::ranges::pop_heap(waiting_, [this](auto a, auto b) { return before(b, a); });
  const std::size_t earliest = waiting_.back();
  waiting_.pop_back();
  return earliest;
}

}  // namespace rocetrace
