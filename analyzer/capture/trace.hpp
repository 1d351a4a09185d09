// SPDX-License-Identifier: BSD-3-Clause
// Several capture files as one trace in time order: the files of a rotated ring, or several taps.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/capture.hpp"

namespace rocetrace {

class Trace {
 public:
  /// Opens the captures; Frame::capture counts them from 0. Throws std::runtime_error, naming the
  /// file, for one that cannot be read, and for more than kMaxCaptures.
  explicit Trace(const std::vector<std::string>& files);

  /// Puts the next frames into `batch`, which is emptied first: at most kBatchFrames, numbered from
  /// 1 in the order of the trace. Their bytes are valid until the next call. False at the end.
  ///
  /// Frames come in the order of their times; at equal times in the order of the files. Within one
  /// file its own order is kept, even where its time goes backwards.
  bool next(FrameBatch& batch);

  /// The number of captures, and what is known of each so far; complete once next() has returned
  /// false.
  std::size_t size() const { return inputs_.size(); }
  const CaptureInfo& info(std::size_t capture) const { return inputs_[capture].info(); }

  static constexpr std::size_t kMaxCaptures = 65535;

 private:
  struct Input {
    std::string file;
    std::unique_ptr<Capture> capture;  // null while parked, and when it is used up
    CaptureInfo parked;                // what is known of it then
    FrameBatch batch;
    std::size_t used = 0;      // of the batch
    roce::u64 first_time = 0;  // of the first frame in the file

    const CaptureInfo& info() const { return capture ? capture->info() : parked; }
    bool spent() const { return used == batch.size(); }
    roce::u64 time() const { return spent() ? first_time : batch[used].time; }
  };

  void open(std::size_t index);
  void refill(std::size_t index);
  void park(Input& input);
  void wait(std::size_t index);
  std::size_t take_earliest();
  bool before(std::size_t a, std::size_t b) const;

  std::vector<Input> inputs_;
  std::vector<std::size_t> waiting_;    // a heap of inputs with frames to come, the earliest on top
  std::optional<std::size_t> used_up_;  // the input whose batch ran out at the last call
  roce::u64 frames_ = 0;
};

}  // namespace rocetrace
