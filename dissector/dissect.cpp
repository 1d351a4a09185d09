// SPDX-License-Identifier: GPL-2.0-or-later
// The order matters: first our own part, which cannot throw, and as the last step Wireshark's own
// InfiniBand dissector, which may leave by longjmp. Nothing that has a destructor may be alive
// then.

#include "dissect.hpp"

#include "file.hpp"
#include "hook.hpp"
#include "info.hpp"
#include "plugin.hpp"
#include "tap.hpp"
#include "tree.hpp"
#include "verdict_tree.hpp"

namespace dissector {
namespace {

/// Whether the packet came here because of the port it was sent *from*: then it is not RoCE.
bool came_by_source_port(const packet_info* pinfo) {
  return pinfo->ptype == PT_UDP && pinfo->match_uint == pinfo->srcport &&
         pinfo->match_uint != pinfo->destport;
}

/// The in-tree dissector gives a CM request's packet a LID for a source address.
void restore_address(address& now, const address& before) {
  if (now.type != before.type) copy_address_shallow(&now, &before);
}

/// Returns whether Wireshark's own dissector took the packet.
bool call_in_tree(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data,
                  unsigned version) {
  const dissector_handle_t handle = in_tree(version);
  if (!handle) return false;
  address source, destination;
  copy_address_shallow(&source, &pinfo->src);
  copy_address_shallow(&destination, &pinfo->dst);
  const int taken = call_dissector_only(handle, tvb, pinfo, tree, data);
  if (version == 2) {
    restore_address(pinfo->src, source);
    restore_address(pinfo->dst, destination);
  }
  return taken > 0;
}

/// The record of a packet: made on the first pass, looked up later. Null for what is not analyzed,
/// such as a packet that an ICMP error quotes: it went by before.
const Record* record_of(const packet_info* pinfo, Sighted& sighted, IcrcStatus icrc) {
  if (!preferences().analyze || !sighted.is_roce() || pinfo->flags.in_error_pkt) return nullptr;
  if (!PINFO_FD_VISITED(pinfo)) return file().observe(sighted, icrc);
  return file().find(pinfo->num, sighted.located.bth_offset);
}

/// What stays alive while the in-tree dissector runs.
struct Info {
  Line summary;
  bool wanted = false;
  bool quiet = false;
};
static_assert(std::is_trivially_destructible_v<Info>);

/// The part that has objects with destructors, and cannot throw.
void dissect_own(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, unsigned version,
                 Info& info) {
  if (!has_file()) return;
  Sighted sighted = sight(tvb, pinfo, version, file().addresses());
  IcrcStatus icrc = IcrcStatus::not_checked;
  if (preferences().verify_icrc) icrc = check_icrc(sighted);
  const Record* const record = record_of(pinfo, sighted, icrc);

  proto_tree* const inner = add_packet(tvb, pinfo, tree, sighted, icrc);
  if (record) add_verdict(inner, tvb, pinfo, file(), *record, sighted.seen);
  if (record && record->half_flow != 0) tap_packet(pinfo, sighted, *record);
  info.wanted = preferences().info_column && sighted.is_roce() && pinfo->cinfo;
  if (!info.wanted) return;
  info.quiet = says_nothing_more(sighted);
  summarize(sighted, file(), record, info.summary);
}

int dissect(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data, unsigned version) {
  const auto size = static_cast<int>(tvb_captured_length(tvb));
  Info info;
  dissect_own(tvb, pinfo, tree, version, info);
  if (info.wanted) begin_info(pinfo, info.summary, info.quiet);
  if (!call_in_tree(tvb, pinfo, tree, data, version)) {
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "RoCE");
  }
  if (info.wanted) end_info(pinfo, info.summary, info.quiet);
  return size;
}

}  // namespace

int dissect_v2(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  if (came_by_source_port(pinfo)) return 0;
  return dissect(tvb, pinfo, tree, data, 2);
}

int dissect_v1(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  return dissect(tvb, pinfo, tree, data, 1);
}

}  // namespace dissector
