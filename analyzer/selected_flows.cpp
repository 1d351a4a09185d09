// SPDX-License-Identifier: BSD-3-Clause
#include "selected_flows.hpp"

#include <algorithm>

#include "roce/net/address_prefix.hpp"

namespace rocetrace {

using roce::u32;
using roce::flow::HalfFlow;
using roce::net::AddressPrefix;

std::vector<u32> selected_flows(const TraceState& state, const Options& options) {
  std::vector<AddressPrefix> hosts;
  for (const std::string& host : options.hosts)
    if (const auto prefix = roce::net::parse_prefix(host)) hosts.push_back(*prefix);

  const roce::flow::FlowTable& flows = state.tracker.flows();
  const auto has_qp = [&](const HalfFlow& flow) {
    return options.qps.empty() || std::ranges::count(options.qps, flow.key.dest_qp()) > 0;
  };
  const auto is_of = [&](u32 end, const AddressPrefix& host) {
    return host.holds(state.decoder.addresses().address(end));
  };
  const auto has_host = [&](const HalfFlow& flow) {
    return options.hosts.empty() || std::ranges::any_of(hosts, [&](const AddressPrefix& host) {
             return is_of(flow.key.source, host) || is_of(flow.key.destination, host);
           });
  };
  std::vector<u32> ids;
  for (u32 id = 1; id <= flows.size(); id++) {
    const HalfFlow& flow = flows.at(id);
    const bool qp = has_qp(flow) || (flow.partner != 0 && has_qp(flows.at(flow.partner)));
    if (qp && has_host(flow)) ids.push_back(id);
  }
  return ids;
}

}  // namespace rocetrace
