# SPDX-License-Identifier: GPL-2.0-or-later
"""Damaged captures: tshark neither crashes nor reports a bug of the plugin."""

import os
import random
import struct
import unittest

import wireshark

TAPS = ["roce,tree", "roce,qp", "roce,srt", "conv,roce", "endpoints,roce", "flow,roce,standard",
        "follow,roce,ascii,0", "expert"]
MUTATIONS = int(os.environ.get("ROCETRACE_MUTATIONS", "10"))


def mutated(capture, seed, share):
    """A copy of a capture in which this share of the bytes behind the MAC addresses is random."""
    rng = random.Random(seed)
    with open(capture, "rb") as file:
        data = bytearray(file.read())
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    at = 24
    while at + 16 <= len(data):
        size, = struct.unpack_from(order + "I", data, at + 8)
        for i in range(at + 16 + 12, min(at + 16 + min(size, 200), len(data))):
            if rng.random() < share:
                data[i] = rng.randrange(256)
        if rng.random() < share:  # captured less than was there
            struct.pack_into(order + "I", data, at + 12, size + rng.randrange(2000))
        at += 16 + size
    target = os.path.join(wireshark.folder(), f"mutated_{seed}.pcap")
    with open(target, "wb") as file:
        file.write(data)
    os.chmod(target, 0o644)
    return target


class Robustness(unittest.TestCase):
    def dissect(self, capture):
        listeners = [part for tap in TAPS for part in ("-z", tap)]
        for arguments in (["-2", "-V"], ["-V", "-x"], ["-2", "-q", *listeners],
                          ["-2", "-Y", "roce.analysis.retransmission || !roce.icrc.bad"]):
            _, errors = wireshark.run(["-r", wireshark.readable(capture), *arguments])
            for line in errors.splitlines():
                self.assertNotRegex(line, r"protocol (RoCE|roce)\b")
                self.assertNotIn("Sanitizer", line)

    def test_hand_made_captures(self):
        for name in sorted(os.listdir(wireshark.CAPTURES)):
            if name.endswith(".pcap"):
                with self.subTest(name):
                    self.dissect(wireshark.capture(name))

    def test_samples(self):
        for name in ("loss_32_qps.pcap", "loss_read.pcap", "cnp.pcap", "rnr_recovered.pcap"):
            with self.subTest(name):
                self.dissect(wireshark.sample(name))

    def test_mutated_captures(self):
        sources = [wireshark.capture(name) for name in (
            "every_kind.pcap", "cut_at_96.pcap", "connection_management.pcap")]
        sources += [wireshark.sample("rnr_recovered.pcap"), wireshark.sample("loss_atomic.pcap")]
        for seed in range(MUTATIONS):
            source = sources[seed % len(sources)]
            with self.subTest(source, seed=seed):
                self.dissect(mutated(source, seed, (0.002, 0.02, 0.1)[seed % 3]))

    def test_lab_captures(self):
        # Where they are at hand, and a sanitizer watches.
        if not wireshark.SANITIZER:
            self.skipTest("no sanitizer in this build")
        for capture in wireshark.lab(r"(b_read|c_send|d_|f_rnr|q_).*\.b\.pcap"):
            with self.subTest(capture):
                self.dissect(capture)


if __name__ == "__main__":
    wireshark.main()
