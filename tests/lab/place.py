# SPDX-License-Identifier: BSD-3-Clause
"""Holds the place of every recovery episode to the truth that two taps know together.

The truth of a restart at a PSN, seen from a tap: the sender's copy of it in the run before was lost before the tap
(upstream), between tap and receiver (downstream), or arrived (response). A copy that arrived damaged was lost: where it
was damaged. A tap in the middle is made from both: what was lost on the way was lost before it or behind it, as a coin
decides, and so are the answers.
"""

import collections
import glob
import json
import os
import random
import subprocess
import tempfile

from wire import distance, is_request, read_packets, write_records

SEEDS = range(3)
MOST_WRONG, MOST_AMBIGUOUS = 0.01, 0.15
# Without IP identifications a packet cannot be told from its copy at the other tap, and of netem's own duplicates the
# taps' order says nothing of the sender's.
LEFT_OUT = ("f_", "q_", "g_v6", "c_send_dup", "c_send_reorder", "c_read_reorder")


def key(packet):
    return packet.source, packet.destination, packet.qp, packet.psn, packet.opcode, packet.ip_id


class Path:
    """Both ends of a path, and which packets got through."""

    def __init__(self, folder, name):
        self.a = read_packets(os.path.join(folder, name + ".a.pcap"))
        self.b = read_packets(os.path.join(folder, name + ".b.pcap"))
        self.seen = {"a": {}, "b": {}}
        for end, packets in (("a", self.a), ("b", self.b)):
            for packet in packets:
                self.seen[end].setdefault(key(packet), packet)
        # The two clocks differ; the fastest packet of each direction tells by how much.
        ahead = {"a": [], "b": []}
        for k, packet in self.seen["a"].items():
            if k in self.seen["b"]:
                ahead[self.end_of(packet.source)].append(self.seen["b"][k].time - packet.time)
        self.clock = (min(ahead["a"], default=0) + max(ahead["b"], default=0)) // 2

    def time_at_a(self, end, packet):
        """When a packet was at that end, by the clock of tap a."""
        return packet.time - (self.clock if end == "b" else 0)

    def end_of(self, source):
        return "a" if source[-1] == 1 else "b"  # host a is x.x.x.1

    def arrived(self, packet):
        """Whether the other end got it, undamaged."""
        there = self.seen["b" if self.end_of(packet.source) == "a" else "a"].get(key(packet))
        return there is not None and there.icrc_good is not False

    def restarts(self):
        """(packet that a sender restarts with, its latest copy before), over both senders."""
        for end, packets in (("a", self.a), ("b", self.b)):
            streams = collections.defaultdict(list)
            for packet in packets:
                if is_request(packet) and self.end_of(packet.source) == end:
                    streams[packet.source, packet.destination, packet.qp].append(packet)
            for stream in streams.values():
                latest = {}
                for before, packet in zip([None] + stream, stream):
                    if before and distance(before.psn, packet.psn) < 0 and packet.psn in latest:
                        yield packet, latest[packet.psn]
                    latest[packet.psn] = packet


def listing(rocetrace, path):
    run = subprocess.run([rocetrace, "packets", "--format", "ndjson", path], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=120, check=True)
    rows = map(json.loads, run.stdout.splitlines())
    return {row["frame"]: row for row in rows}


class Score:
    def __init__(self):
        self.truths = collections.Counter()
        self.ambiguous = collections.Counter()
        self.wrong = []

    def add(self, where, packet, truth, said):
        self.truths[truth] += 1
        said = "response" if said == "spurious" else said
        if said == "ambiguous":
            self.ambiguous[truth] += 1
        elif said != truth:
            self.wrong.append(f"{where}: restart at PSN {packet.psn}, frame {packet.frame} of its sender: {truth}, said {said}")

    def report(self, what):
        total = self.truths.total()
        unsure = self.ambiguous.total()
        for line in self.wrong[:10]:
            print(line)
        truths = ", ".join(f"{count} {place}" for place, count in sorted(self.truths.items()))
        print(f"{what}: {total} episodes ({truths}): {total - unsure - len(self.wrong)} placed rightly, "
              f"{unsure} ambiguous, {len(self.wrong)} wrong")
        return total > 0 and len(self.wrong) <= MOST_WRONG * total and unsure <= MOST_AMBIGUOUS * total


def check_ends(rocetrace, folder, name, path, score):
    for tap in "ab":
        frames = {k: packet.frame for k, packet in path.seen[tap].items()}
        rows = listing(rocetrace, os.path.join(folder, f"{name}.{tap}.pcap"))
        for packet, before in path.restarts():
            if key(packet) not in frames:
                continue
            at_tap = path.seen[tap].get(key(before))
            passed = at_tap is not None and at_tap.icrc_good is not False
            truth = "response" if path.arrived(before) else "downstream" if passed else "upstream"
            score.add(f"{name}.{tap}", packet, truth, rows[frames[key(packet)]].get("place"))


def middle_of(path, seed):
    """What a tap in the middle would have seen, and the keys of what was lost before it."""
    coin = random.Random(seed)
    seen, before = [], set()
    for end, other, packets in (("a", "b", path.a), ("b", "a", path.b)):
        half = time = 0
        for packet in packets:
            if path.end_of(packet.source) != end:
                continue
            sent = path.time_at_a(end, packet)
            there = path.seen[other].get(key(packet))
            if there is not None:
                half = (path.time_at_a(other, there) - sent) // 2
            time = max(time + 1, sent + half)  # packets do not overtake each other
            if not path.arrived(packet) and coin.random() < 0.5:
                before.add(key(packet))
            else:
                seen.append((time, packet))
    seen.sort(key=lambda entry: entry[0])
    return seen, before


def check_middle(rocetrace, name, path, seed, folder, score):
    seen, before_tap = middle_of(path, seed)
    target = os.path.join(folder, name + ".pcap")
    write_records(target, (packet.record._replace(time=time) for time, packet in seen))
    rows = listing(rocetrace, target)
    frames = {key(packet): frame for frame, (_, packet) in enumerate(seen, 1)}
    for packet, before in path.restarts():
        if key(packet) not in frames:
            continue
        truth = "response" if path.arrived(before) else "upstream" if key(before) in before_tap else "downstream"
        score.add(f"{name} between (seed {seed})", packet, truth, rows[frames[key(packet)]].get("place"))


def check(rocetrace, lab):
    ends, middle = Score(), Score()
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(glob.glob(os.path.join(lab, "*.a.pcap"))):
            name = os.path.basename(file)[:-len(".a.pcap")]
            if name.startswith(LEFT_OUT) or not os.path.exists(os.path.join(lab, name + ".b.pcap")):
                continue
            path = Path(lab, name)
            if not any(True for _ in path.restarts()):
                continue
            check_ends(rocetrace, lab, name, path, ends)
            for seed in SEEDS:
                check_middle(rocetrace, name, path, seed, folder, middle)
    good = ends.report("taps at the ends")
    return 0 if middle.report("taps in the middle") and good else 1
