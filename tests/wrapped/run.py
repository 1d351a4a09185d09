#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""RoCE in every encapsulation, link type and file format that scapy and editcap make.

usage: run.py ROCETRACE
rocetrace must find every packet in every file, with what was put in; and wherever tshark finds one, it
must say the same of it. Exit code 77, which ctest counts as skipped, without scapy or Wireshark's tools.
"""

import concurrent.futures
import csv
import gzip
import ipaddress
import os
import shutil
import subprocess
import sys
import tempfile
from fractions import Fraction

sys.dont_write_bytecode = True
DEBIAN = "/usr/bin/python3"  # its packages are not seen by a python3 from elsewhere
try:
    import wraps
    from scapy.packet import Raw
    from scapy.utils import ERFEthernetWriter, RawPcapNgWriter, RawPcapReader, RawPcapWriter
except ImportError as error:
    if os.path.realpath(sys.executable) != os.path.realpath(DEBIAN) and os.path.exists(DEBIAN):
        os.execv(DEBIAN, [DEBIAN, "-B", *sys.argv])
    print(f"SKIPPED: {error}")
    sys.exit(77)

COPIES = 3
START = 1_700_000_000_123_456_789
STEP = 1_000_000
SHOWN = 5  # complaints per file
# What no field of the packets says, and tshark has to be told.
DECODE_AS = ["udp.port==8472,vxlan", "mpls.label==97,pwethnocw", "mpls.label==96,pwethcw"]
FIELDS = ["frame.number", "frame.protocols", "infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp",
          "ip.src", "ip.dst", "ipv6.src", "ipv6.dst", "infiniband.grh.sgid", "infiniband.grh.dgid"]


def tool(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr}")
    return done.stdout


class Frame:
    """A frame of a file: its bytes, its time in ns, and the body in it."""

    def __init__(self, link_type, body, data):
        self.link_type, self.body, self.data = link_type, body, data
        # Link types take turns, so that files merged by time mix them.
        self.time = START + body.n * STEP + list(wraps.LINK_TYPES).index(link_type) * 10_000


def write_pcap(path, link_type, frames, order, nano):
    with RawPcapWriter(path, linktype=link_type, endianness=order, nano=nano) as file:
        file.write_header(None)
        for frame in frames:
            second, rest = divmod(frame.time, 10**9)
            file.write_packet(frame.data, sec=second, usec=rest if nano else rest // 1000)


def write_pcapng(path, link_type, frames):
    with RawPcapNgWriter(path) as file:
        file.linktype = link_type
        file.write_header(None)
        for frame in frames:
            file.write_packet(frame.data, sec=Fraction(frame.time, 10**9), usec=0)


def as_erf(frames, folder):
    """The frames with the record headers that scapy writes, as Wireshark puts them into pcap."""
    erf, pcap = os.path.join(folder, "made.erf"), os.path.join(folder, "made.pcap")
    writer = ERFEthernetWriter(erf)
    for frame in frames:
        packet = Raw(frame.data)
        packet.time = Fraction(frame.time, 10**9)
        writer.write_packet(packet)
    writer.close()
    tool("editcap", "-F", "nsecpcap", erf, pcap)
    reader = RawPcapReader(pcap)
    records = [data for data, _ in reader]
    reader.close()
    if reader.linktype != 197 or len(records) != len(frames):
        raise SystemExit(f"editcap made {len(records)} records of link type {reader.linktype} out of an ERF file")
    for frame, record in zip(frames, records):
        frame.data = record
    return frames


def frames_of(link_type, bodies, folder):
    made = [(body, wraps.on_link(link_type, body)) for body in bodies]
    frames = [Frame(link_type, body, data) for body, data in made if data is not None]
    return as_erf(frames, folder) if link_type == 197 else frames


def compressed_by(program):
    def write(source, path):
        tool(program, "-q", "-f", source, "-o", path) if program == "zstd" else tool(program, "-q", "-f", source, path)
    return write


def gzipped(source, path):
    with open(source, "rb") as plain, gzip.open(path, "wb") as packed:
        shutil.copyfileobj(plain, packed)


def edited(name):
    return lambda source, path: tool("editcap", "-F", name, source, path)


# Name: what one unit of its time stamps is in ns, and how it is written from frames ...
WRITTEN = {
    "pcap": (1000, lambda path, link, frames: write_pcap(path, link, frames, "<", False)),
    "pcap, big-endian": (1000, lambda path, link, frames: write_pcap(path, link, frames, ">", False)),
    "pcap ns": (1, lambda path, link, frames: write_pcap(path, link, frames, "<", True)),
    "pcap ns, big-endian": (1, lambda path, link, frames: write_pcap(path, link, frames, ">", True)),
    "pcapng": (1000, write_pcapng),
}
# ... or made of the pcap file with nanoseconds.
MADE = {
    "editcap pcap": (1000, edited("pcap")),
    "editcap nsecpcap": (1, edited("nsecpcap")),
    "editcap pcapng": (1, edited("pcapng")),
    "editcap modpcap": (1000, edited("modpcap")),
    "editcap nokiapcap": (1000, edited("nokiapcap")),
    "editcap rh6_1pcap": (1000, edited("rh6_1pcap")),
    "editcap suse6_3pcap": (1000, edited("suse6_3pcap")),
    "gzip": (1, gzipped),
    **{name: (1, compressed_by(name)) for name in ("zstd", "lz4") if shutil.which(name)},
}


class Case:
    """A file and the frames in it."""

    def __init__(self, name, path, unit, frames, asks_tshark):
        self.name, self.path, self.unit, self.frames, self.asks_tshark = name, path, unit, frames, asks_tshark


def cases(folder):
    """Every link type in every format. tshark, which is slow, gets each of both, but not each pair."""
    bodies = wraps.bodies(COPIES)
    merged, sources, made = [], [], []
    formats = list(WRITTEN) + list(MADE)
    for index, link_type in enumerate(wraps.LINK_TYPES):
        frames = frames_of(link_type, bodies, folder)
        merged += frames
        for number, name in enumerate(formats):
            path = os.path.join(folder, f"{link_type}-{number}")
            if name in WRITTEN:
                unit, write = WRITTEN[name]
                write(path, link_type, frames)
            else:
                unit, make = MADE[name]
                make(os.path.join(folder, f"{link_type}-{formats.index('pcap ns')}"), path)
            asks = number % len(wraps.LINK_TYPES) == index
            made.append(Case(f"{wraps.LINK_TYPES[link_type][0]}, {name}", path, unit, frames, asks))
        sources.append(os.path.join(folder, f"{link_type}-{formats.index('pcap ns')}"))
    path = os.path.join(folder, "merged")
    tool("mergecap", "-F", "pcapng", "-w", path, *sources)
    made.append(Case("all of them, mergecap", path, 1, sorted(merged, key=lambda frame: frame.time), True))
    return made


def time_of(text):
    """Nanoseconds in a time like 2026-11-29T14:47:54.287690897Z, of which only the fraction can go wrong here."""
    moment, fraction = text.rstrip("Z").split(".")
    hour, minute, second = moment.split("T")[1].split(":")
    return ((int(hour) * 60 + int(minute)) * 60 + int(second)) * 10**9 + int(fraction.ljust(9, "0"))


def told_by_rocetrace(rocetrace, path):
    text = tool(rocetrace, "packets", "--format", "csv", path)
    return {int(row["frame"]): row for row in csv.DictReader(text.splitlines())}


def told_by_tshark(path):
    """Frame number to opcode, PSN, QP and innermost addresses, for each frame where it found a BTH."""
    words = [("-d", rule) for rule in DECODE_AS] + [("-e", field) for field in FIELDS]
    command = ["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=l"]
    told = {}
    for line in tool(*command, *[word for pair in words for word in pair]).splitlines():
        number, protocols, opcode, psn, dest_qp, *addresses = line.split("\t")
        if not psn:
            continue
        ipv4, ipv6, gids = addresses[:2], addresses[2:4], addresses[4:]
        layers = protocols.split(":infiniband")[0].split(":")
        innermost = next((layer for layer in reversed(layers) if layer in ("ip", "ipv6")), None)
        pair = gids if all(gids) else {"ip": ipv4, "ipv6": ipv6}[innermost]
        told[int(number)] = (int(opcode, 0), int(psn, 0), int(dest_qp, 0), *map(ipaddress.ip_address, pair))
    return told


def differences(case, rows, tshark):
    """What rocetrace says otherwise than the generator or tshark, as lines."""
    for number, frame in enumerate(case.frames, 1):
        at = f"{case.name}, frame {number}, {frame.body.encapsulation}"
        row = rows.get(number)
        if row is None:
            yield f"{at}: not decoded\n  {frame.data.hex(' ', 4)}"
            continue
        wanted = {**vars(frame.body.truth), "icrc": "good"}
        for column, value in wanted.items():
            if row[column] != str(value):
                yield f"{at}: {column} is {value}, rocetrace says {row[column]}\n  {frame.data.hex(' ', 4)}"
        late = time_of(row["time"]) - frame.time // case.unit * case.unit % (86400 * 10**9)
        if late != 0:
            yield f"{at}: {late} ns late"
        ours = (int(row["opcode_number"]), int(row["psn"]), int(row["dest_qp"]),
                ipaddress.ip_address(row["source"]), ipaddress.ip_address(row["destination"]))
        if number in tshark and tshark[number] != ours:
            yield f"{at}: tshark says {tshark[number]}, rocetrace {ours}\n  {frame.data.hex(' ', 4)}"
    extra = sorted(rows.keys() - set(range(1, len(case.frames) + 1)))
    if extra:
        yield f"{case.name}: frames {extra} were never written"


def print_table(checked):
    """One line per encapsulation: in which link types, and what tshark could say of the frames it was given."""
    links = {name: {} for name in wraps.ENCAPSULATIONS}
    asked, known, tried = ({name: 0 for name in links} for _ in range(3))
    for case, tshark in checked:
        for number, frame in enumerate(case.frames, 1):
            name = frame.body.encapsulation
            links[name][wraps.LINK_TYPES[frame.link_type][0]] = None
            tried[name] += 1
            asked[name] += case.asks_tshark
            known[name] += number in tshark
    print(f"{'encapsulation':22} {'frames':>6}  {'by tshark':>12}  link types")
    for name, on in links.items():
        where = "all" if len(on) == len(wraps.LINK_TYPES) else ", ".join(on)
        print(f"{name:22} {tried[name]:6}  {known[name]:5} of {asked[name]:4}  {where}")
    print(f"{'together':22} {sum(tried.values()):6}  {sum(known.values()):5} of {sum(asked.values()):4}")
    print("link types:", ", ".join(f"{name} ({number})" for number, (name, _) in wraps.LINK_TYPES.items()))
    print("formats:", "; ".join([*WRITTEN, *MADE, "mergecap of all link types"]))


def main():
    rocetrace = os.path.abspath(sys.argv[1])
    missing = [name for name in ("tshark", "editcap", "mergecap") if not shutil.which(name)]
    if missing:
        print(f"SKIPPED: no {', '.join(missing)}")
        return 77
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        every = cases(folder)
        asked = list(pool.map(lambda case: told_by_tshark(case.path) if case.asks_tshark else {}, every))
        told = list(pool.map(lambda case: told_by_rocetrace(rocetrace, case.path), every))
        wrong = 0
        for case, rows, tshark in zip(every, told, asked):
            lines = list(differences(case, rows, tshark))
            wrong += bool(lines)
            print(*lines[:SHOWN], sep="\n", end="\n" if lines else "")
            if len(lines) > SHOWN:
                print(f"{case.name}: and {len(lines) - SHOWN} more")
        print_table(list(zip(every, asked)))
        plain = {frame.link_type for case, tshark in zip(every, asked)
                 for number, frame in enumerate(case.frames, 1)
                 if number in tshark and frame.body.encapsulation == "plain"}
    unseen = [name for number, (name, _) in wraps.LINK_TYPES.items() if number not in plain]
    if unseen:
        print(f"tshark found nothing in {', '.join(unseen)}: what was made cannot be right")
    print(f"{len(every) - wrong} of {len(every)} files as they were made")
    return 1 if wrong or unseen else 0


if __name__ == "__main__":
    sys.exit(main())
