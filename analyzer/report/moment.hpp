// SPDX-License-Identifier: BSD-3-Clause
// One frame of the second pass over the captures, with what the first pass settled about it.

#pragma once

#include "capture/frame.hpp"
#include "capture/info.hpp"
#include "roce/flow/observation.hpp"
#include "roce/flow/verdict.hpp"

namespace rocetrace {

/// Everything referred to is valid during the call only.
struct Moment {
  const Frame& frame;
  const CaptureInfo& capture;                           // the file that it comes from
  const roce::flow::Observation* packet = nullptr;      // null: no RoCE
  roce::flow::Arrival arrival{};                        // its class is the settled one
  const roce::flow::SettledEpisode* episode = nullptr;  // that it is part of; null: none
};

}  // namespace rocetrace
