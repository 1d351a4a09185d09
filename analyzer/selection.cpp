// SPDX-License-Identifier: BSD-3-Clause
#include "selection.hpp"

#include <algorithm>

#include "roce/net/layers.hpp"

namespace rocetrace {

SelectedTrace::SelectedTrace(const Options& options)
    : trace_(options.captures),
      from_(options.from),
      to_(options.to),
      vlans_(options.vlans),
      left_out_(options.captures.size()) {
  if (!options.filter.empty()) filter_.emplace(options.filter);
  is_selective_ = from_ || to_ || !vlans_.empty() || filter_;
}

roce::u64 SelectedTrace::bytes_read() const {
  roce::u64 sum = 0;
  for (std::size_t i = 0; i < size(); i++) sum += info(i).bytes_read;
  return sum;
}

roce::u64 SelectedTrace::total_size() const {
  roce::u64 sum = 0;
  for (std::size_t i = 0; i < size(); i++) sum += info(i).total_size;
  return sum;
}

// Any of its tags: which of them is "the" VLAN depends on where the mirror stands.
bool SelectedTrace::is_in_vlan(const Frame& frame) const {
  roce::net::Path path;
  roce::net::walk(frame.bytes, frame.wire_size, frame.link_type, path);
  return std::ranges::any_of(path.passed(), [&](const roce::net::Layer& layer) {
    return layer.kind == roce::net::LayerKind::vlan && std::ranges::count(vlans_, layer.id) > 0;
  });
}

bool SelectedTrace::is_wanted(const Frame& frame) {
  return (!from_ || frame.time >= from_->in_trace(*begin_)) &&
         (!to_ || frame.time <= to_->in_trace(*begin_)) && (!filter_ || filter_->passes(frame)) &&
         (vlans_.empty() || is_in_vlan(frame));
}

void SelectedTrace::select(FrameBatch& batch) {
  if (!begin_) begin_ = batch.front().time;
  std::erase_if(batch, [&](const Frame& frame) {
    if (is_wanted(frame)) return false;
    left_out_[frame.capture]++;
    return true;
  });
}

}  // namespace rocetrace
