# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged captures: tshark neither crashes nor reports a bug of the plugin.

tshark takes longer to start than to read a small capture, so several are read as one.
"""

import collections
import os
import random
import struct
import subprocess
import unittest

import wireshark

TAPS = ["roce,tree", "roce,qp", "roce,srt", "conv,roce", "endpoints,roce", "flow,roce,standard",
        "follow,roce,ascii,0", "expert"]
READINGS = [
    ["-2", "-V"],
    ["-V", "-x", "-Y", "roce.analysis.retransmission || !roce.icrc.bad"],
    ["-2", "-q", *(part for tap in TAPS for part in ("-z", tap))],
]
HEADER, RECORD = 24, 16  # bytes of a file's header and of a record's
SNAPLEN = slice(16, 20)  # in a file's header
SHARES = (0.002, 0.02, 0.1)
MUTATIONS = int(os.environ.get("ROCETRACE_MUTATIONS", "15"))


def content(capture):
    with open(capture, "rb") as file:
        return bytearray(file.read())


def written(name, data):
    target = os.path.join(wireshark.folder(), name + ".pcap")
    with open(target, "wb") as file:
        file.write(data)
    os.chmod(target, 0o644)
    return target


def joined(name, contents):
    """Files that together hold all packets, one for each kind of capture."""
    kinds = collections.defaultdict(bytearray)
    for data in contents:
        header = data[:HEADER]
        header[SNAPLEN] = bytes(4)  # no limit
        kinds[bytes(header)] += data[HEADER:]
    return [written(f"{name}_{i}", header + packets)
            for i, (header, packets) in enumerate(kinds.items())]


def mutated(data, seed, share):
    """A capture in which this share of the bytes behind the MAC addresses is random."""
    rng = random.Random(seed)
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = HEADER
    while at + RECORD <= len(data):
        size, = struct.unpack_from(order + "I", data, at + 8)
        for i in range(at + RECORD + 12, min(at + RECORD + min(size, 200), len(data))):
            if rng.random() < share:
                data[i] = rng.randrange(256)
        if rng.random() < share:  # captured less than was there
            struct.pack_into(order + "I", data, at + 12, size + rng.randrange(2000))
        at += RECORD + size
    return data


class Robustness(unittest.TestCase):
    def dissect(self, name, contents):
        for capture in joined(name, contents):
            for arguments in READINGS:
                with self.subTest(capture, arguments=arguments):
                    _, errors = wireshark.run(["-r", capture, *arguments], stdout=subprocess.DEVNULL)
                    for line in errors.splitlines():
                        self.assertNotRegex(line, r"protocol (RoCE|roce)\b")
                        self.assertNotIn("Sanitizer", line)

    def test_hand_made_captures(self):
        self.dissect("hand_made", [
            content(wireshark.capture(name)) for name in sorted(os.listdir(wireshark.CAPTURES))
            if name.endswith(".pcap")])

    def test_samples(self):
        self.dissect("samples", [content(wireshark.sample(name)) for name in (
            "loss_32_qps.pcap", "loss_read.pcap", "cnp.pcap", "rnr_recovered.pcap")])

    def test_mutated_captures(self):
        sources = [wireshark.capture(name) for name in (
            "every_kind.pcap", "cut_at_96.pcap", "connection_management.pcap")]
        sources += [wireshark.sample("rnr_recovered.pcap"), wireshark.sample("loss_atomic.pcap")]
        # The seeds of one share are read as one: whatever fails can be made again from them.
        for i, share in enumerate(SHARES):
            self.dissect(f"mutated_{i}", [
                mutated(content(sources[seed % len(sources)]), seed, share)
                for seed in range(i, MUTATIONS, len(SHARES))])

    def test_lab_captures(self):
        # Where they are at hand, and a sanitizer watches.
        if not wireshark.SANITIZER:
            self.skipTest("no sanitizer in this build")
        self.dissect("lab", [content(capture) for capture in wireshark.lab(
            r"(b_read|c_send|d_|f_rnr|q_).*\.b\.pcap")])


if __name__ == "__main__":
    wireshark.main()
