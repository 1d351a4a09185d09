// SPDX-License-Identifier: BSD-3-Clause
// Headers to put around a test's packet: each function returns its header and then `inside`.

#pragma once

#include "support/packet.hpp"

namespace roce::test {

/// Bytes written as numbers, then what follows them.
inline Buffer wrap(std::initializer_list<unsigned> header, const Buffer& inside) {
  Buffer out;
  for (unsigned byte : header) out.push_back(static_cast<u8>(byte));
  put(out, inside);
  return out;
}

inline Buffer ethernet(u32 type, const Buffer& inside) {
  Buffer out = wrap({2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa}, {});
  put(out, type, 2);
  put(out, inside);
  return out;
}

/// From 192.0.2.1 to 192.0.2.2, without a header checksum.
inline Buffer ipv4(unsigned protocol, const Buffer& inside) {
  Buffer out = wrap({0x45, 0}, {});
  put(out, 20 + inside.size(), 2);
  put(out, 0, 4);
  put(out, wrap({64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2}, inside));
  return out;
}

/// From 2001:db8::1 to 2001:db8::2.
inline Buffer ipv6(unsigned next, const Buffer& inside) {
  Buffer out = wrap({0x60, 0, 0, 0}, {});
  put(out, inside.size(), 2);
  put(out, wrap({next, 64}, {}));
  put(out, 0x2001'0db8, 4);
  put(out, 0, 8);
  put(out, 1, 4);
  put(out, 0x2001'0db8, 4);
  put(out, 0, 8);
  put(out, 2, 4);
  put(out, inside);
  return out;
}

inline Buffer udp(u32 port, const Buffer& inside) {
  Buffer out;
  put(out, 50000, 2);
  put(out, port, 2);
  put(out, 8 + inside.size(), 2);
  put(out, 0, 2);
  put(out, inside);
  return out;
}

}  // namespace roce::test
