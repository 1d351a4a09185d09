// SPDX-License-Identifier: GPL-2.0-or-later
#include "verdict_tree.hpp"

#include "fields.hpp"

namespace dissector {
namespace {

using namespace roce;
using flow::Cause, flow::PacketClass, flow::Place, flow::StreamKind;

/// Adds computed fields, each marked as such.
class Adder {
 public:
  Adder(proto_tree* tree, tvbuff_t* tvb) : tree_(tree), tvb_(tvb) {}

  proto_item* number(Own field, uint32_t value) {
    return generated(proto_tree_add_uint(tree_, id_of(field), tvb_, 0, 0, value));
  }
  /// A link to a frame, unless there is none.
  void frame(Own field, uint32_t value) {
    if (value != 0) number(field, value);
  }
  proto_item* word(Own field, std::string_view value) {
    return generated(proto_tree_add_string(tree_, id_of(field), tvb_, 0, 0, value.data()));
  }
  void flag(Own field) { generated(proto_tree_add_boolean(tree_, id_of(field), tvb_, 0, 0, 1)); }
  void time(Own field, uint64_t nanoseconds) {
    nstime_t value;
    value.secs = static_cast<time_t>(nanoseconds / 1'000'000'000u);
    value.nsecs = static_cast<int>(nanoseconds % 1'000'000'000u);
    generated(proto_tree_add_time(tree_, id_of(field), tvb_, 0, 0, &value));
  }

 private:
  static proto_item* generated(proto_item* item) {
    proto_item_set_generated(item);
    return item;
  }
  proto_tree* tree_;
  tvbuff_t* tvb_;
};

void add_experts(packet_info* pinfo, proto_item* item, const Analysis& file, const Record& record) {
  const auto add = [&](Expert info) { expert_add_info(pinfo, item, id_of(info)); };
  switch (record.packet_class) {
    case PacketClass::retransmission: {
      const Analysis::Verdict verdict = file.verdict(record);
      if (verdict.cause == Cause::none) {
        add(Expert::retransmission);
      } else {
        expert_add_info_format(pinfo, item, id_of(Expert::retransmission), "Sent again: %s, %s",
                               name(verdict.cause).data(), name(verdict.place).data());
      }
      break;
    }
    case PacketClass::gap:
      expert_add_info_format(pinfo, item, id_of(Expert::gap), "%u PSN%s missing before this packet",
                             record.missing, record.missing == 1 ? " is" : "s are");
      break;
    case PacketClass::reordered: add(Expert::reordered); break;
    case PacketClass::duplicate_capture: add(Expert::duplicate_capture); break;
    case PacketClass::stale: add(Expert::stale); break;
    case PacketClass::none:
    case PacketClass::first:
    case PacketClass::in_order: break;
  }
  if (record.repeated_response) add(Expert::repeated_response);
}

/// Returns the item of the class, or `top` when the packet has none.
proto_item* add_class(Adder& add, const Analysis& file, const Record& record, proto_item* top) {
  if (record.packet_class == PacketClass::none) return top;
  proto_item* const item = add.word(Own::packet_class, name(record.packet_class));
  if (record.provisional) add.flag(Own::provisional);
  const Analysis::Verdict verdict = file.verdict(record);
  if (verdict.cause != Cause::none) add.word(Own::cause, name(verdict.cause));
  if (verdict.place != Place::none) add.word(Own::place, name(verdict.place));
  if (record.episode != 0) add.number(Own::episode, record.episode);
  if (verdict.packets != 0) add.number(Own::episode_packets, verdict.packets);
  return item;
}

void add_queue_pairs(Adder& add, const Analysis& file, const Record& record,
                     const flow::Observation& seen) {
  proto_item_set_hidden(add.number(Own::qp, seen.dest_qp));
  std::optional<uint32_t> source = file.source_qp(record);
  if (!source && seen.source_qp != 0) source = seen.source_qp;
  if (!source) return;
  add.number(Own::source_qp, *source);
  proto_item_set_hidden(add.number(Own::qp, *source));
}

void add_message(Adder& add, const Analysis& file, const Record& record) {
  if (!(record.flags & kHasMessage)) return;
  add.number(Own::message, record.message);
  if (record.flags & kHasOffset) add.number(Own::message_offset, record.offset);
  if (const uint32_t length = file.message_length(record)) add.number(Own::message_length, length);
}

void add_request(Adder& add, const Analysis& file, const Record& record) {
  add.frame(Own::acked_in, record.answer);
  if (record.flags & kNakReaction) {
    add.frame(Own::nak_frame, record.related);
    add.time(Own::nak_reaction, record.delay);
  }
  if (record.outstanding != 0 && file.paired(record)) {
    add.number(Own::outstanding, record.outstanding);
    add.number(Own::outstanding_bytes, record.outstanding_bytes);
  }
}

void add_response(Adder& add, const Record& record) {
  add.frame(Own::acks, record.answer);
  if (record.flags & kAckTime) add.time(Own::ack_rtt, record.delay);
  if (record.flags & kReadTime) add.time(Own::read_rtt, record.delay);
  if (record.flags & kMessageTime) add.time(Own::message_time, record.interval);
  if (record.flags & kNakDelay) {
    add.frame(Own::nak_cause, record.related);
    add.time(Own::nak_delay, record.delay);
  }
}

}  // namespace

void add_verdict(proto_tree* tree, tvbuff_t* tvb, packet_info* pinfo, const Analysis& file,
                 const Record& record, const flow::Observation& seen) {
  if (record.half_flow == 0) return;
  if (!tree) {
    add_experts(pinfo, nullptr, file, record);
    return;
  }
  proto_item* top = nullptr;
  proto_tree* const inner =
      proto_tree_add_subtree(tree, tvb, 0, 0, id_of(Tree::analysis), &top, "RoCE analysis");
  proto_item_set_generated(top);
  Adder add(inner, tvb);
  add.number(Own::stream, file.stream(record));
  add.number(Own::half_flow, record.half_flow);
  add_queue_pairs(add, file, record, seen);
  add_experts(pinfo, add_class(add, file, record, top), file, record);
  if (record.missing > 0) add.number(Own::missing, record.missing);
  add.frame(Own::original, record.original);
  add.frame(Own::resent_in, record.again);
  add_message(add, file, record);
  switch (record.stream) {
    case StreamKind::request: add_request(add, file, record); break;
    case StreamKind::response: add_response(add, record); break;
    case StreamKind::cnp:
      if (record.flags & kHasCnpInterval) add.time(Own::cnp_interval, record.interval);
      if (record.flags & kCeToCnp) add.time(Own::ce_to_cnp, record.delay);
      break;
    case StreamKind::other: break;
  }
}

}  // namespace dissector
