# SPDX-License-Identifier: BSD-3-Clause
"""A small reader of RoCEv2 packets in pcap files, independent of the project's own, for ground truth only."""

import struct
import zlib
from collections import namedtuple

REQUESTS = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x13, 0x14, 0x16, 0x17, 0x1c, 0x1d}
READ_REQUEST, ACKNOWLEDGE, ATOMIC_ACK = 0x0c, 0x11, 0x12
READ_RESPONSES = {0x0d, 0x0e, 0x0f, 0x10}
RETH_OPERATIONS = {0x06, 0x0a, 0x0b, 0x0c}
AETH_OPERATIONS = {0x0d, 0x0f, 0x10, 0x11, 0x12}
SERVICES_THAT_REPAIR = {0, 2, 5}  # RC, RD, XRC

Record = namedtuple("Record", "frame time wire_size data")
Packet = namedtuple("Packet", "frame time source destination ip_id qp psn opcode syndrome dma_length icrc_good record")


def operation(packet):
    return packet.opcode & 0x1f


def is_request(packet):
    return packet.opcode >> 5 in SERVICES_THAT_REPAIR and operation(packet) in REQUESTS and packet.qp > 1


def distance(start, end):
    """Steps from PSN `start` to PSN `end`, negative when it is earlier."""
    return ((end - start + 0x800000) & 0xffffff) - 0x800000


def read_records(path):
    """The records of a little-endian pcap file of Ethernet frames; times in nanoseconds."""
    with open(path, "rb") as file:
        data = file.read()
    magic, link_type = struct.unpack_from("<I", data, 0)[0], struct.unpack_from("<I", data, 20)[0]
    scale = {0xa1b2c3d4: 1000, 0xa1b23c4d: 1}[magic]
    assert link_type & 0xffff == 1, f"{path}: not Ethernet"
    at, frame = 24, 0
    while at + 16 <= len(data):
        seconds, fraction, size, wire_size = struct.unpack_from("<IIII", data, at)
        frame += 1
        yield Record(frame, seconds * 10**9 + fraction * scale, wire_size, data[at + 16:at + 16 + size])
        at += 16 + size


def write_records(path, records):
    with open(path, "wb") as file:
        file.write(struct.pack("<IHHiIII", 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for record in records:
            seconds, fraction = divmod(record.time, 10**9)
            file.write(struct.pack("<IIII", seconds, fraction, len(record.data), record.wire_size) + record.data)


def find_network(data, at=12):
    """Offset of the IP header of the frame whose EtherType is at `at`, past VLAN tags and VXLAN; None if there is none."""
    kind = int.from_bytes(data[at:at + 2], "big")
    while kind in (0x8100, 0x88a8):
        at += 4
        kind = int.from_bytes(data[at:at + 2], "big")
    at += 2
    if kind not in (0x0800, 0x86dd) or len(data) < at + 48:
        return None
    udp = at + (20 if kind == 0x0800 else 40)
    if data[udp + 2:udp + 4] == b"\x12\xb5":  # 4789
        return find_network(data, udp + 16 + 12)
    return at


def icrc_is_good(data, network, bth, end):
    """IBTA annex A17.3.3: fields that change on the way count as ones."""
    covered = bytearray(b"\xff" * 8 + data[network:end - 4])
    at = 8
    if data[network] >> 4 == 4:
        covered[at + 1] = covered[at + 8] = covered[at + 10] = covered[at + 11] = 0xff
    else:
        covered[at] |= 0x0f
        covered[at + 1:at + 4] = b"\xff\xff\xff"
        covered[at + 7] = 0xff
    udp = bth - 8 - network
    covered[at + udp + 6] = covered[at + udp + 7] = 0xff
    covered[at + bth - network + 4] = 0xff
    return zlib.crc32(bytes(covered)) == int.from_bytes(data[end - 4:end], "little")


def parse(record):
    """The RoCEv2 packet in a record, or None."""
    data = record.data
    network = find_network(data)
    if network is None:
        return None
    ipv4 = data[network] >> 4 == 4
    udp = network + (20 if ipv4 else 40)
    protocol = data[network + (9 if ipv4 else 6)]
    if protocol != 17 or data[udp + 2:udp + 4] != b"\x12\xb7" or len(data) < udp + 20:
        return None
    bth = udp + 8
    end = udp + int.from_bytes(data[udp + 4:udp + 6], "big")
    opcode = data[bth]
    extended = bth + 12 + (4 if opcode >> 5 == 5 else 0)
    addresses = (data[network + 12:network + 16], data[network + 16:network + 20]) if ipv4 else (
        data[network + 8:network + 24], data[network + 24:network + 40])
    return Packet(
        record.frame, record.time, *addresses, int.from_bytes(data[network + 4:network + 6], "big") if ipv4 else None,
        int.from_bytes(data[bth + 5:bth + 8], "big"), int.from_bytes(data[bth + 9:bth + 12], "big"), opcode,
        data[bth + 12] if opcode & 0x1f in AETH_OPERATIONS else None,
        int.from_bytes(data[extended + 12:extended + 16], "big") if opcode & 0x1f in RETH_OPERATIONS else None,
        icrc_is_good(data, network, bth, end) if len(data) >= end else None, record)


def read_packets(path):
    return [packet for packet in map(parse, read_records(path)) if packet is not None]
