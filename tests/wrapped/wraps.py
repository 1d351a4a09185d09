# SPDX-License-Identifier: BSD-3-Clause
"""RoCE packets by scapy, in everything that can lie around them, and what must be read of each.

All headers are scapy's, but for RETH, AETH and DETH, which it does not have, and the ICRC, which it
knows for IPv4 only. Nothing here shares a line or a test vector with the program.
"""

import dataclasses
import ipaddress
import struct
import zlib

from scapy.contrib.erspan import ERSPAN_II, ERSPAN_III, ERSPAN_PlatformSpecific
from scapy.contrib.geneve import GENEVE, GeneveOptions
from scapy.contrib.gtp import GTP_U_Header
from scapy.contrib.mpls import EoMCW, MPLS
from scapy.contrib.roce import BTH, GRH
from scapy.layers.inet import IP, IPOption_Router_Alert, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrHopByHop, PadN
from scapy.layers.l2 import CookedLinux, CookedLinuxV2, Dot1AD, Dot1Q, Dot3, Ether, GRE, LLC, Loopback, SNAP
from scapy.layers.ppp import PPP, PPPoE
from scapy.layers.vxlan import VXLAN
from scapy.packet import Padding, Raw

# Opcode, the headers after the BTH, and how many bytes of payload follow them.
RETH = struct.pack(">QII", 0x7F12_3456_7000, 0x1234, 50)
OPERATIONS = [
    (0x0A, RETH, 50),  # RC RDMA WRITE Only
    (0x04, b"", 33),  # RC SEND Only
    (0x11, struct.pack(">I", 0x1F00_0123), 0),  # RC Acknowledge: AETH
    (0x0C, RETH, 0),  # RC RDMA READ Request
    (0x64, struct.pack(">II", 0x8001_0000, 0x77), 20),  # UD SEND Only: DETH
    (0x81, bytes(16), 0),  # CNP
    (0x27, b"", 256),  # UC RDMA WRITE Middle
]
# The first byte decides what an unnamed Ethernet header is taken for: 4 and 6 would be IP.
VENDORS = ["02:00:00", "0c:42:a1", "b8:59:9f", "ec:0d:9a", "98:03:9b"]
ETHER_TYPES = {IP: 0x0800, IPv6: 0x86DD, GRH: 0x8915, Dot1Q: 0x8100, Dot1AD: 0x88A8, MPLS: 0x8847, PPPoE: 0x8864}


@dataclasses.dataclass(frozen=True)
class Truth:
    """What was put in: the names are those of the program's columns."""
    source: str
    destination: str
    dest_qp: int
    opcode_number: int
    psn: int
    payload_bytes: int


def icrc(network, bth_at):
    """IBTA 7.8.1 and A17.3.3: the CRC over the packet with what changes on the way set to ones."""
    masked = bytearray(network)
    masked[0] |= 0x0F  # traffic class and flow label
    masked[1:4] = b"\xff" * 3
    masked[7] = 0xFF  # hop limit
    if bth_at == 48:  # UDP checksum
        masked[46:48] = b"\xff" * 2
    masked[bth_at + 4] = 0xFF
    return int.from_bytes(zlib.crc32(b"\xff" * 8 + masked).to_bytes(4, "little"), "big")


def roce(kind, n):
    """The n-th packet, without a link layer, as scapy has it, and its truth."""
    opcode, headers, size = OPERATIONS[n % len(OPERATIONS)]
    source, destination = {
        "IPv4": (f"10.{n % 200}.1.{n % 250 + 1}", f"10.{n % 199}.2.{n % 249 + 1}"),
        "IPv6": (f"2001:db8:{n + 1:x}::1", f"2001:db8::{n + 1:x}:2"),
        "v1": (f"fe80::a:{n + 1:x}", f"fe80::{n + 1:x}:b:c")}[kind]
    truth = Truth(source, destination, n * 0x3001 + 0x11 & 0xFFFFFF, opcode, n * 0x10007 + 0xFFFFF0 & 0xFFFFFF, size)
    bth = BTH(opcode=opcode, padcount=-size % 4, dqpn=truth.dest_qp, psn=truth.psn, ackreq=n & 1)
    body = Raw(headers + bytes((n + i) & 0xFF for i in range(size)) + bytes(-size % 4))
    if kind == "IPv4":
        above = IP(src=source, dst=destination, id=n, tos=n % 256) / UDP(sport=49152 + n, dport=4791)
        bth.icrc = int.from_bytes(bytes(above / bth / body)[-4:], "big")  # scapy's, before anything is wrapped around
        return above / bth / body, truth
    bth.icrc = 0
    if kind == "IPv6":
        above, bth_at = IPv6(src=source, dst=destination, fl=n, hlim=64) / UDP(sport=49152 + n, dport=4791), 48
    else:
        gids = [int(ipaddress.ip_address(gid)) for gid in (source, destination)]
        above, bth_at = GRH(nexthdr=0x1B, hoplmt=1, paylen=len(bth / body), sgid=gids[0], dgid=gids[1]), 40
    bth.icrc = icrc(bytes(above / bth / body)[:-4], bth_at)
    return above / bth / body, truth


class Inner:
    """What an encapsulation gets to wrap: a packet, and an Ethernet frame with it, tagged every third time."""

    def __init__(self, kind, n):
        self.kind, self.n = kind, n
        self.bare, self.truth = roce(kind, n)
        self.type = ETHER_TYPES[type(self.bare)]
        self.is_ip = kind != "v1"

    @property
    def frame(self):
        tag, outside = ("", self.type) if self.n % 3 else (Dot1Q(vlan=5, type=self.type), 0x8100)
        header = ethernet(self.n, outside)
        return header / tag / self.bare if tag else header / self.bare

    def outer(self, **ipv4):
        """Addresses around, IPv4 and IPv6 in turn."""
        if self.n % 2 == 0 or ipv4:
            return IP(src="192.0.2.1", dst="192.0.2.2", **ipv4)
        return IPv6(src="2001:db8:ffff::1", dst="2001:db8:ffff::2")

    def udp(self, port):
        return self.outer() / UDP(sport=50000 + self.n, dport=port)

    def gre(self, **fields):
        return self.outer() / GRE(**fields)


def ethernet(n, ether_type):
    mac = f"{VENDORS[n % len(VENDORS)]}:00:{n >> 8:02x}:{n & 255:02x}"
    return Ether(src="02:00:00:00:00:fe", dst=mac, type=ether_type)


def sequenced(i, proto, header):
    return i.gre(proto=proto, seqnum_present=1, sequence_number=i.n) / header


# Each gives the packet that it makes of an Inner, or None if it cannot hold that.
ENCAPSULATIONS = {
    "plain": lambda i: i.bare,
    "trailing bytes": lambda i: i.bare / Padding(b"\x5a" * 4),
    "802.1Q": lambda i: Dot1Q(vlan=7, prio=3, type=i.type) / i.bare,
    "QinQ": lambda i: Dot1AD(vlan=7, type=0x8100) / Dot1Q(vlan=8, type=i.type) / i.bare,
    "three tags": lambda i: (Dot1AD(vlan=7, type=0x8100) / Dot1Q(vlan=8, type=0x8100)
                             / Dot1Q(vlan=9, type=i.type) / i.bare),
    "802.2": lambda i: LLC(dsap=6, ssap=6, ctrl=3) / i.bare if i.kind == "IPv4" else None,
    "802.2, SNAP": lambda i: LLC(dsap=0xAA, ssap=0xAA, ctrl=3) / SNAP(OUI=0, code=i.type) / i.bare,
    "tag, 802.2, SNAP": lambda i: (Dot1Q(vlan=7, type=8 + len(i.bare)) / LLC(dsap=0xAA, ssap=0xAA, ctrl=3)
                                   / SNAP(OUI=0, code=i.type) / i.bare),
    "PPPoE": lambda i: (PPPoE(sessionid=3) / Raw(b"\0\x21" if i.kind == "IPv4" else b"\0\x57") / i.bare
                        if i.is_ip else None),
    # scapy leaves the zero out, as RFC 1661, 6.5 has it.
    "PPPoE, compressed": lambda i: (PPPoE(sessionid=3) / PPP(proto=0x21 if i.kind == "IPv4" else 0x57) / i.bare
                                    if i.is_ip else None),
    "MPLS": lambda i: MPLS(label=99, s=1, ttl=9) / i.bare if i.is_ip else None,
    "MPLS, two labels": lambda i: MPLS(label=98, s=0, ttl=9) / MPLS(label=99, s=1, ttl=9) / i.bare if i.is_ip else None,
    "MPLS pseudowire": lambda i: MPLS(label=97, s=1, ttl=9) / i.frame,
    "MPLS, control word": lambda i: MPLS(label=96, s=1, ttl=9) / EoMCW(seq=i.n) / i.frame,
    "MPLS in IP": lambda i: i.outer() / MPLS(label=99, s=1, ttl=9) / i.bare if i.is_ip else None,
    "MPLS in UDP": lambda i: i.udp(6635) / MPLS(label=99, s=1, ttl=9) / i.bare if i.is_ip else None,
    "MPLS in GRE": lambda i: i.gre(proto=0x8847) / MPLS(label=99, s=1, ttl=9) / i.bare if i.is_ip else None,
    "IP in IP": lambda i: i.outer() / i.bare if i.is_ip else None,
    "IP options": lambda i: i.outer(options=[IPOption_Router_Alert()]) / i.bare if i.is_ip else None,
    "IPv6 options": lambda i: (IPv6(src="2001:db8::1", dst="2001:db8::2")
                               / IPv6ExtHdrHopByHop(options=PadN(optdata=bytes(12)))
                               / IPv6ExtHdrDestOpt(options=PadN(optdata=bytes(4))) / i.bare if i.is_ip else None),
    "GRE": lambda i: i.gre(proto=i.type) / i.bare if i.is_ip else None,
    "GRE, key": lambda i: i.gre(proto=i.type, key_present=1, key=0x01020304) / i.bare if i.is_ip else None,
    "GRE, sequence": lambda i: sequenced(i, i.type, i.bare) if i.is_ip else None,
    "GRE, all fields": lambda i: (i.gre(proto=i.type, chksum_present=1, offset=0, key_present=1, key=7,
                                        seqnum_present=1, sequence_number=i.n) / i.bare if i.is_ip else None),
    "GRE, Ethernet": lambda i: i.gre(proto=0x6558) / i.frame,
    "NVGRE": lambda i: i.gre(proto=0x6558, key_present=1, key=0x4D01) / i.frame,
    "ERSPAN I": lambda i: i.gre(proto=0x88BE) / i.frame,
    "ERSPAN II": lambda i: sequenced(i, 0x88BE, ERSPAN_II(ver=1, vlan=5, session_id=99, index=1) / i.frame),
    "ERSPAN III": lambda i: sequenced(i, 0x22EB, ERSPAN_III(session_id=99, timestamp=i.n, gra=2) / i.frame),
    "ERSPAN III, platform": lambda i: sequenced(
        i, 0x22EB, ERSPAN_III(session_id=99, o=1) / ERSPAN_PlatformSpecific(platf_id=3) / i.frame),
    "ERSPAN III, IP": lambda i: sequenced(i, 0x22EB, ERSPAN_III(session_id=99, ft=2) / i.bare) if i.is_ip else None,
    "VXLAN": lambda i: i.udp(4789) / VXLAN(flags=8, vni=77) / i.frame,
    "VXLAN, Linux's port": lambda i: i.udp(8472) / VXLAN(flags=8, vni=77) / i.frame,
    "VXLAN in VXLAN": lambda i: (i.udp(4789) / VXLAN(flags=8, vni=77) / ethernet(i.n, 0x0800) / IP(dst="192.0.2.9")
                                 / UDP(sport=50000, dport=4789) / VXLAN(flags=8, vni=78) / i.frame),
    "VXLAN-GPE": lambda i: (i.udp(4790) / VXLAN(flags=12, NextProtocol=1 if i.kind == "IPv4" else 2, vni=77) / i.bare
                            if i.is_ip else None),
    "VXLAN-GPE, Ethernet": lambda i: i.udp(4790) / VXLAN(flags=12, NextProtocol=3, vni=77) / i.frame,
    "Geneve": lambda i: i.udp(6081) / GENEVE(proto=i.type, vni=77) / i.bare if i.is_ip else None,
    "Geneve, Ethernet": lambda i: (i.udp(6081) / GENEVE(proto=0x6558, vni=77, options=[
        GeneveOptions(classid=0x102, type=3, data=bytes(8))]) / i.frame),
    "GTP-U": lambda i: i.udp(2152) / GTP_U_Header(gtp_type=255, teid=5) / i.bare if i.is_ip else None,
    "GTP-U, sequence": lambda i: (i.udp(2152) / GTP_U_Header(gtp_type=255, teid=5, S=1, seq=i.n) / i.bare
                                  if i.is_ip else None),
}


def _ethernet(n, ether_type, body):
    if ether_type is None:
        return Dot3(src="02:00:00:00:00:fe", dst="02:00:00:00:00:01", len=len(body))
    return ethernet(n, ether_type)


def _null(order):
    def header(n, ether_type, _body):
        family = {0x0800: 2, 0x86DD: (24, 28, 30)[n % 3]}.get(ether_type)
        return family and struct.pack(order + "I", family)
    return header


def _bare(*ether_types):
    return lambda _n, ether_type, _body: b"" if ether_type in ether_types else None


# LINKTYPE_ number: name, and what gives the header before a body of that EtherType (None: 802.2), or None.
LINK_TYPES = {
    1: ("Ethernet", _ethernet),
    197: ("ERF", _ethernet),  # the record header is the file format's
    113: ("cooked v1", lambda n, ether_type, _body: CookedLinux(
        lladdrtype=1, lladdrlen=6, src=b"\2\0\0\0\0\1", proto=ether_type or 4)),
    276: ("cooked v2", lambda n, ether_type, _body: CookedLinuxV2(
        lladdrtype=1, lladdrlen=6, src=b"\2\0\0\0\0\1", ifindex=n, proto=ether_type or 4)),
    0: ("NULL", _null("<")),
    108: ("LOOP", _null(">")),
    12: ("raw (DLT)", _bare(0x0800, 0x86DD)),
    101: ("raw", _bare(0x0800, 0x86DD)),
    228: ("raw IPv4", _bare(0x0800)),
    229: ("raw IPv6", _bare(0x86DD)),
}


@dataclasses.dataclass(frozen=True)
class Body:
    encapsulation: str
    n: int
    ether_type: int | None
    data: bytes
    truth: Truth


def bodies(copies):
    """So many packets of each version of RoCE in every encapsulation that can hold it, without link layers."""
    made = []
    for name, wrap in ENCAPSULATIONS.items():
        for kind in ("IPv4", "IPv6", "v1"):
            for _ in range(copies):
                inner = Inner(kind, len(made))
                packet = wrap(inner)
                if packet is not None:
                    made.append(Body(name, inner.n, ETHER_TYPES.get(type(packet)), bytes(packet), inner.truth))
    return made


def on_link(link_type, body):
    """The frame's bytes, or None if the link type cannot hold it."""
    header = LINK_TYPES[link_type][1](body.n, body.ether_type, body.data)
    return None if header is None else bytes(header) + body.data
