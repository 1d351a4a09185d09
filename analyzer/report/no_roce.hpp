// SPDX-License-Identifier: BSD-3-Clause
// What it usually means when a capture holds no RoCE.

#pragma once

#include <string_view>

namespace rocetrace {

inline constexpr std::string_view kNoRoceMeanings[] = {
    "The capture was made on a host's network device. A NIC that does RDMA hands those packets to "
    "no network device, so tcpdump on it sees none of them. Capture on the RDMA device (tcpdump -i "
    "mlx5_0, with a libpcap that knows RDMA sniffing), on a mirror port of the switch, or at a "
    "tap.",
    "The application speaks TCP after all: libvma, NCCL over sockets and iWARP look like TCP.",
    "A filter removed it, while capturing or here (--filter, --qp, --host): 'udp port 4791' alone "
    "misses packets with a VLAN tag; use 'udp port 4791 or (vlan and udp port 4791)', and ether "
    "proto 0x8915 for RoCEv1.",
};

}  // namespace rocetrace
