// SPDX-License-Identifier: BSD-3-Clause
// From frames to observations: the decoding step of the pipeline, with its counts.

#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "capture/frame.hpp"
#include "findings/request_ring.hpp"
#include "mirror_sequences.hpp"
#include "roce/cm_message.hpp"
#include "roce/flow/observation.hpp"
#include "roce/net/address.hpp"
#include "roce/net/observe.hpp"

namespace rocetrace {

/// What one capture file was found to hold.
struct SightingCounts {
  roce::u64 roce = 0;
  roce::u64 not_roce_on_4791 = 0;  // datagrams to the RoCEv2 port that cannot be RoCE
  roce::u64 undecoded = 0;         // RoCE whose BTH was not captured, or means nothing known
};

class Decoder {
 public:
  /// The RoCE packets of `batch`, in its order; valid until the next call.
  std::span<roce::flow::Observation> decode(const FrameBatch& batch);

  /// Messages of the communication manager among them, with the index of their packet.
  struct Cm {
    std::size_t packet = 0;
    roce::CmMessage message;
  };
  const std::vector<Cm>& cm_messages() const { return cm_messages_; }

  /// Indices of the frames in the batch that hold no RoCE packet.
  const std::vector<std::size_t>& others() const { return others_; }
  /// The requests seen last that name memory.
  const RequestRing& requests() const { return requests_; }

  /// Counts of capture file `index`.
  SightingCounts counts(std::size_t index) const {
    return index < counts_.size() ? counts_[index] : SightingCounts{};
  }
  /// What the sequence numbers of mirrors say is missing.
  const MirrorSequences& mirrors() const { return mirrors_; }
  const roce::net::AddressTable& addresses() const { return addresses_; }
  /// What else was seen, by name; only a sample once there is much of it.
  const std::map<std::string, roce::u64>& protocols() const { return protocols_; }

 private:
  void note_cm(roce::Bytes bytes, std::size_t wire_size, std::size_t index);
  void note_other(const Frame& frame, std::size_t index, roce::net::Sighting sighting,
                  SightingCounts& counts);
  roce::net::AddressTable addresses_;
  std::vector<roce::flow::Observation> observations_;
  std::vector<Cm> cm_messages_;
  std::vector<std::size_t> others_;
  RequestRing requests_;
  MirrorSequences mirrors_;
  std::vector<SightingCounts> counts_;
  std::map<std::string, roce::u64> protocols_;
};

}  // namespace rocetrace
