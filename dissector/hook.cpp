// SPDX-License-Identifier: GPL-2.0-or-later
// Wireshark's own dissectors for RoCE have no names, so they are taken out of the dissector tables,
// ours put in their place, and called from ours. A change of an InfiniBand preference puts them
// back into the tables, and Decode As moves them; hence the tables are looked through again and
// again.

#include "hook.hpp"

#include <vector>

#include "plugin.hpp"

namespace dissector {
namespace {

struct InTree {
  dissector_handle_t v1 = nullptr;
  dissector_handle_t v2 = nullptr;
};
InTree g_in_tree;

struct Slots {
  dissector_handle_t holding = nullptr;
  std::vector<uint32_t> numbers;
};

void collect(const char*, ftenum_t, void* key, void* value, void* user) {
  Slots& slots = *static_cast<Slots*>(user);
  if (dtbl_entry_get_handle(static_cast<dtbl_entry_t*>(value)) == slots.holding) {
    slots.numbers.push_back(GPOINTER_TO_UINT(key));
  }
}

/// Puts `to` where `from` is. As a *changed* entry, it comes before dissectors of the UDP port at
/// the other end: a RoCE packet's source port may be one that DNS or VXLAN owns.
void replace(const char* table, dissector_handle_t from, dissector_handle_t to, bool as_changed) {
  if (!from || !to) return;
  Slots slots{from, {}};
  dissector_table_foreach(table, collect, &slots);
  for (const uint32_t number : slots.numbers) {
    if (as_changed || dissector_is_uint_changed(find_dissector_table(table), number)) {
      dissector_change_uint(table, number, to);
    } else {
      dissector_add_uint(table, number, to);
    }
  }
}

}  // namespace

void remember_in_tree() {
  constexpr uint32_t kUdpPort = 4791, kEtherType = 0x8915;
  g_in_tree.v2 = dissector_get_uint_handle(find_dissector_table("udp.port"), kUdpPort);
  g_in_tree.v1 = dissector_get_uint_handle(find_dissector_table("ethertype"), kEtherType);
  // Should they not be there, ours still work, alone.
  if (!g_in_tree.v2) dissector_add_uint("udp.port", kUdpPort, registered().v2);
  if (!g_in_tree.v1) dissector_add_uint("ethertype", kEtherType, registered().v1);
  dissector_add_for_decode_as("udp.port", registered().v2);
}

void hook_tables() {
  const Registered& ours = registered();
  if (proto_is_protocol_enabled(find_protocol_by_id(ours.proto))) {
    replace("udp.port", g_in_tree.v2, ours.v2, true);
    replace("ethertype", g_in_tree.v1, ours.v1, false);
  } else {
    replace("udp.port", ours.v2, g_in_tree.v2, false);
    replace("ethertype", ours.v1, g_in_tree.v1, false);
  }
}

dissector_handle_t in_tree(unsigned version) {
  return version == 1 ? g_in_tree.v1 : g_in_tree.v2;
}

}  // namespace dissector
