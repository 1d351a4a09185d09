// SPDX-License-Identifier: BSD-3-Clause
#include "findings/words.hpp"

#include <cmath>

namespace rocetrace {

using roce::flow::HalfFlow;
using roce::net::Address;
using roce::net::AddressKind;

std::string plural(u64 count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", human::grouped(count), count == 1 ? one : many);
}

std::optional<u8> usual_dscp(const HalfFlow& flow) {
  if (!flow.rare_state) return std::nullopt;
  std::array<u64, 64> counts{};
  for (const auto& tos : flow.rare_state->tos) counts[tos.value >> 2] += tos.count;
  const auto most = std::ranges::max_element(counts);
  if (*most == 0) return std::nullopt;
  return static_cast<u8>(most - counts.begin());
}

std::string name_of(const TraceView& trace, const HalfFlow& flow) {
  std::string text = trace.address(flow.key.source);
  if (const HalfFlow* partner = trace.partner(flow))
    text += fmt::format(" QP {:#x}", partner->key.dest_qp());
  text += fmt::format(" -> {} QP {:#x}", trace.address(flow.key.destination), flow.key.dest_qp());
  std::string labels;
  const auto add = [&](const std::string& label) {
    labels += labels.empty() ? label : ", " + label;
  };
  if (flow.key.version() == 1) add("RoCEv1");
  if (flow.marking.has & roce::flow::Marking::kSourcePort)
    add(fmt::format("UDP source port {}", flow.marking.source_port));
  if (const auto dscp = usual_dscp(flow)) add(fmt::format("DSCP {}", *dscp));
  return labels.empty() ? text : fmt::format("{} ({})", text, labels);
}

std::string host_of(const TraceView& trace, u32 address) {
  const std::string text = trace.address(address);
  return text.starts_with("::ffff:") ? text.substr(7) : text;
}

Evidence identity(const TraceView& trace, const HalfFlow& flow) {
  Evidence out = {{"source", trace.address(flow.key.source)},
                  {"destination", trace.address(flow.key.destination)}};
  if (const HalfFlow* partner = trace.partner(flow))
    out.emplace_back("source_qp", u64{partner->key.dest_qp()});
  out.emplace_back("dest_qp", u64{flow.key.dest_qp()});
  if (flow.marking.has & roce::flow::Marking::kSourcePort)
    out.emplace_back("source_port", u64{flow.marking.source_port});
  if (const auto dscp = usual_dscp(flow)) out.emplace_back("dscp", u64{*dscp});
  return out;
}

std::string moment(const TraceView& trace, u64 time) {
  const u64 into = time - std::min(trace.begin, time);
  return fmt::format("{:.6f} s into the trace", static_cast<double>(into) / 1e9);
}

std::string subnet_text(Address address, const SubnetPrefix& prefix) {
  const bool ipv4 = address.kind == AddressKind::ipv4;
  if (!ipv4 && address.kind != AddressKind::ipv6) return std::string(address.text().view());
  const unsigned bits = std::min(ipv4 ? prefix.ipv4 : prefix.ipv6, ipv4 ? 32u : 128u);
  for (unsigned i = 0; i < 16; i++) {
    const unsigned kept = bits > 8 * i ? std::min(bits - 8 * i, 8u) : 0;
    address.octets[i] = static_cast<u8>(address.octets[i] & (0xff00u >> kept));
  }
  return fmt::format("{}/{}", address.text().view(), bits);
}

std::string subnet_of(const TraceView& trace, u32 id) {
  return subnet_text(trace.addresses.address(id), trace.circumstances.subnet);
}

u64 naks_of_refusal(const TraceView& trace, const HalfFlow& answers) {
  const HalfFlow* asker = trace.partner(answers);
  return asker ? trace.log(*asker).naks_of_refusal(asker->requests.una()) : 0;
}

double ratio(u64 part, u64 whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double rounded(double value, int decimals) {
  const double scale = std::pow(10.0, decimals);
  return std::round(value * scale) / scale;
}

bool is_multicast(const TraceView& trace, const HalfFlow& flow) {
  const Address address = trace.addresses.address(flow.key.destination);
  if (address.kind == AddressKind::ipv4) return (address.octets[0] & 0xf0) == 0xe0;
  return address.kind == AddressKind::ipv6 && address.octets[0] == 0xff;
}

}  // namespace rocetrace
