// SPDX-License-Identifier: BSD-3-Clause
// A frame of any link type, whole or cut: byte 0 and 1 are the link type, byte 2 how many bytes
// were cut off, in units of 16.

#include "roce/roce.hpp"

extern "C" int LLVMFuzzerTestOneInput(const roce::u8* data, std::size_t size) {
  if (size < 3) return 0;
  const roce::u16 link_type = roce::net::detail::load16(data);
  const roce::Bytes frame(data + 3, size - 3);
  const auto wire_size = static_cast<roce::u32>(frame.size() + 16u * data[2]);
  roce::net::AddressTable addresses;
  roce::flow::Observation seen;
  roce::net::Located at;
  roce::net::decode_pause(frame);
  if (roce::net::observe_frame(frame, wire_size, link_type, addresses, seen, at) ==
      roce::net::Sighting::roce) {
    roce::check_icrc(frame, at);
    roce::decode_cm(roce::RocePacket::decode(frame.subspan(at.bth_offset), at.bth_size));
  }
  return 0;
}
