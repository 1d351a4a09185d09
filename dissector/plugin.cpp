// SPDX-License-Identifier: GPL-2.0-or-later
// What Wireshark looks for in a plugin, and the order in which the parts register.

#include "plugin.hpp"

#include "dissect.hpp"
#include "fields.hpp"
#include "file.hpp"
#include "hook.hpp"
#include "statistics.hpp"

// A constant at namespace scope would not be exported: it has to be declared first.
extern "C" {
extern WS_DLL_PUBLIC_DEF const char plugin_version[];
extern WS_DLL_PUBLIC_DEF const int plugin_want_major;
extern WS_DLL_PUBLIC_DEF const int plugin_want_minor;
WS_DLL_PUBLIC_DEF void plugin_register();
WS_DLL_PUBLIC_DEF uint32_t plugin_describe();

const char plugin_version[] = ROCETRACE_VERSION;
const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
const int plugin_want_minor = WIRESHARK_VERSION_MINOR;
}

namespace dissector {
namespace {

Preferences g_preferences;
Registered g_registered;

void register_preferences() {
  module_t* const module = prefs_register_protocol(g_registered.proto, nullptr);
  prefs_register_bool_preference(module, "verify_icrc", "Verify the ICRC",
                                 "Compute the invariant CRC of every packet that was captured "
                                 "whole, and compare it with the one it carries.",
                                 &g_preferences.verify_icrc);
  prefs_register_bool_preference(module, "analyze", "Analyze PSN sequences",
                                 "Follow the packet sequence numbers of every QP: gaps, "
                                 "retransmissions with cause and place, response times.",
                                 &g_preferences.analyze);
  prefs_register_bool_preference(module, "info_column", "Summarize packets in the Info column",
                                 "Replace the opcode in the Info column by a summary with PSN, "
                                 "message position and analysis.",
                                 &g_preferences.info_column);
}

void register_protocol() {
  g_registered.proto = proto_register_protocol("RDMA over Converged Ethernet", "RoCE", "roce");
  register_fields(g_registered.proto);
  register_preferences();
  g_registered.tap = register_tap("roce");
  g_registered.follow_tap = register_tap("roce_follow");
  g_registered.v2 = register_dissector("roce", dissect_v2, g_registered.proto);
  g_registered.v1 = register_dissector("roce.v1", dissect_v1, g_registered.proto);
  register_statistics(g_registered.proto);
  register_init_routine([] {
    start_file();
    hook_tables();
  });
  register_postseq_cleanup_routine(finish_first_pass);
  register_cleanup_routine(end_file);
}

void hand_off() {
  remember_in_tree();
  register_opcode_statistics();
}

}  // namespace

const Preferences& preferences() {
  return g_preferences;
}
const Registered& registered() {
  return g_registered;
}

}  // namespace dissector

void plugin_register() {
  static proto_plugin plugin = {dissector::register_protocol, dissector::hand_off};
  proto_register_plugin(&plugin);
}

// Wanted since 4.4: what kind of plugin this is.
uint32_t plugin_describe() {
  constexpr uint32_t kDissector = 1;
  return kDissector;
}
