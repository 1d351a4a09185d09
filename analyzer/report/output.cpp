// SPDX-License-Identifier: BSD-3-Clause
// All output files side by side. See output.hpp.

#include "report/output.hpp"

#include <algorithm>
#include <stdexcept>

#include "report/formats.hpp"
#include "report/sink.hpp"

namespace rocetrace {
namespace {

class Outputs {
 public:
  // Does `step`, and remembers what went wrong.
  template <class Step>
  bool attempt(Step&& step) {
    try {
      step();
      return true;
    } catch (const PipeClosed&) {
      return false;  // its reader wants no more
    } catch (const std::exception& error) {
      failures_.emplace_back(error.what());
      return false;
    }
  }

  void add(const Report& report, const std::string& path) {
    attempt([&] {
      const ReportFormat* format = format_of_file(path);
      if (format && format->make) {
        waiting_.push_back(format->make(report, path));
      } else {
        save_report(report, path);
      }
    });
  }
  void show(const Moment& moment) {
    std::erase_if(waiting_, [&](const std::unique_ptr<Output>& output) {
      return !attempt([&] { output->on_moment(moment); });
    });
  }
  void finish() {
    for (const std::unique_ptr<Output>& output : waiting_) attempt([&] { output->finish(); });
  }
  bool waiting() const { return !waiting_.empty(); }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  std::vector<std::unique_ptr<Output>> waiting_;  // for the second pass
  std::vector<std::string> failures_;
};

}  // namespace

bool wants_second_pass(const std::vector<std::string>& paths) {
  return std::ranges::any_of(paths, [](const std::string& path) {
    const ReportFormat* format = format_of_file(path);
    return format && format->make;
  });
}

std::vector<std::string> write_outputs(const Report& report, const std::vector<std::string>& paths,
                                       const Retell& retell) {
  Outputs outputs;
  for (const std::string& path : paths) outputs.add(report, path);
  if (!outputs.waiting()) return outputs.failures();
  const bool told =
      outputs.attempt([&] { retell([&](const Moment& moment) { outputs.show(moment); }); });
  if (told) outputs.finish();
  return outputs.failures();
}

}  // namespace rocetrace
