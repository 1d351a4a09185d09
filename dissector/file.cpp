// SPDX-License-Identifier: GPL-2.0-or-later
#include "file.hpp"

#include <memory>

namespace dissector {
namespace {

std::unique_ptr<Analysis> g_analysis;

}  // namespace

void start_file() {
  g_analysis = std::make_unique<Analysis>();
}
void finish_first_pass() {
  if (g_analysis) g_analysis->finish();
}
void end_file() {
  g_analysis.reset();
}

Analysis& file() {
  return *g_analysis;
}
bool has_file() {
  return g_analysis != nullptr;
}

}  // namespace dissector
