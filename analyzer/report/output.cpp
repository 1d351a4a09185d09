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
  // Does `step` for the file of that name, and remembers what went wrong.
  template <class Step>
  bool attempt(const std::string& path, Step&& step) {
    try {
      step();
      return true;
    } catch (const PipeClosed&) {
      failures_.push_back(path + ": its reader is gone");
    } catch (const std::exception& error) {
      failures_.emplace_back(error.what());
    }
    return false;
  }

  void add(const Report& report, const std::string& path) {
    attempt(path, [&] {
      const ReportFormat* format = format_of_file(path);
      if (format && format->make) {
        waiting_.push_back({path, format->make(report, path)});
      } else {
        save_report(report, path);
      }
    });
  }
  void show(const Moment& moment) {
    std::erase_if(waiting_, [&](const Waiting& one) {
      return !attempt(one.path, [&] { one.output->on_moment(moment); });
    });
  }
  void finish() {
    for (const Waiting& one : waiting_) attempt(one.path, [&] { one.output->finish(); });
    waiting_.clear();
  }
  bool waiting() const { return !waiting_.empty(); }
  const std::vector<std::string>& failures() const { return failures_; }

 private:
  struct Waiting {  // for the second pass
    std::string path;
    std::unique_ptr<Output> output;
  };
  std::vector<Waiting> waiting_;
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
  const bool told = outputs.attempt(
      "second pass", [&] { retell([&](const Moment& moment) { outputs.show(moment); }); });
  if (told) outputs.finish();
  return outputs.failures();
}

}  // namespace rocetrace
