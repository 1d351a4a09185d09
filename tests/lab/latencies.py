# SPDX-License-Identifier: BSD-3-Clause
"""Holds latency distributions to an independent computation over the same captures.

ACK latency: an acknowledgement that covers requests for the first time, none of which was sent twice, minus the request
packet with its PSN (an atomic's answer likewise). READ latency: a READ request that was sent once, to its last response.
"""

import collections
import json
import os
import subprocess

from wire import (ACKNOWLEDGE, ATOMIC_ACK, READ_REQUEST, READ_RESPONSES, SERVICES_THAT_REPAIR, distance, is_request,
                  operation, read_packets)

CAPTURES = ("a01_rc_send_s1025_m1024", "a07_rc_read_s10001_m1024", "a18_mix_ops_psnwrap", "a10_rc_send_8qp",
            "b_send_loss_a2b5", "b_write_loss_a2b1", "d_atomic_fadd_loss5", "f_rnr_then_ok")
PATH_MTU = 1024  # bytes, of all these captures
CLOSE = 0.02


def is_response(packet):
    return packet.opcode >> 5 in SERVICES_THAT_REPAIR and not is_request(packet)


class Asker:
    """One direction's requests, as far as latencies need them."""

    def __init__(self):
        self.sent = {}       # PSN: time of the packet
        self.twice = set()   # PSNs that were sent again
        self.covered = None  # PSN up to which answers came
        self.first = self.expected = None
        self.reads = {}      # last PSN: (request's PSN, its time)

    def request(self, packet):
        read = operation(packet) == READ_REQUEST
        width = max(1, -(-packet.dma_length // PATH_MTU)) if read else 1
        psns = [(packet.psn + i) & 0xffffff for i in range(width)]
        if self.first is None:
            self.first = self.expected = packet.psn
        # No packet overtakes another in these captures: an earlier PSN was sent before, seen here or not.
        again = distance(self.expected, packet.psn) < 0
        if not again or distance(self.expected, psns[-1]) >= 0:
            self.expected = (psns[-1] + 1) & 0xffffff
        if again:
            self.twice.update(psns)
            if read:
                self.reads.pop(psns[-1], None)
            return
        for psn in psns:
            self.sent[psn] = packet.time
        if read:
            self.reads[psns[-1]] = packet.psn, packet.time

    def acknowledge(self, packet):
        """The latency that the answer shows, or None."""
        before = self.covered if self.covered is not None else (self.first - 1) & 0xffffff
        if distance(before, packet.psn) <= 0:
            return None
        self.covered = packet.psn
        newly = [(packet.psn - i) & 0xffffff for i in range(distance(before, packet.psn))]
        clean = not any(psn in self.twice for psn in newly)
        return packet.time - self.sent[packet.psn] if clean and packet.psn in self.sent else None


def compute(path, pairs):
    """{(QP at a, QP at b): (ACK latencies, READ latencies)} of the connections in `pairs`."""
    partner = {}
    for pair in pairs:
        partner[pair[0], False], partner[pair[1], True] = pair, pair
    askers = collections.defaultdict(Asker)
    out = {pair: ([], []) for pair in pairs}
    for packet in read_packets(path):
        from_a = packet.source[-1] == 1
        pair = partner.get((packet.qp, from_a))
        if pair is None or packet.opcode >> 5 not in SERVICES_THAT_REPAIR:
            continue
        if is_request(packet):
            askers[pair, from_a].request(packet)
            continue
        asker = askers[pair, not from_a]
        if asker.first is None:
            continue
        positive = packet.syndrome is None or packet.syndrome >> 5 == 0
        if operation(packet) in (ACKNOWLEDGE, ATOMIC_ACK) and positive:
            latency = asker.acknowledge(packet)
            if latency is not None:
                out[pair][0].append(latency)
        elif operation(packet) in READ_RESPONSES:
            asker.acknowledge(packet)
            read = asker.reads.pop(packet.psn, None)
            if read and not any((read[0] + i) & 0xffffff in asker.twice for i in range(distance(read[0], packet.psn) + 1)):
                out[pair][1].append(packet.time - read[1])
    return out


def quantile(values, share):
    return sorted(values)[max(1, -(-round(share * 1000) * len(values) // 1000)) - 1]


def compare(where, said, values):
    """Lines that tell how a DIST differs from the values it should describe."""
    if not values or said is None:
        if values or said is not None:
            yield f"{where}: {said}, but {len(values)} samples were computed"
        return
    exact = {"count": len(values), "min": min(values), "max": max(values), "mean": sum(values) // len(values)}
    for name, value in exact.items():
        if said[name] != value:
            yield f"{where}: {name} {said[name]}, computed {value}"
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        value = quantile(values, share)
        if abs(said[name] - value) > CLOSE * value:
            yield f"{where}: {name} {said[name]}, computed {value}"


def check(rocetrace, lab):
    bad = samples = count = 0
    for name in CAPTURES:
        for tap in "ab":
            path = os.path.join(lab, f"{name}.{tap}.pcap")
            run = subprocess.run([rocetrace, "analyze", "--format", "json", path], stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=120, check=True)
            result = json.loads(run.stdout)
            half_flows = {half_flow["id"]: half_flow for half_flow in result["half_flows"]}
            connections = {}
            for connection in result["connections"]:
                ends = sorted((half_flows[id] for id in connection["half_flows"]), key=lambda end: end["source"].endswith(".1"))
                connections[ends[0]["dest_qp"], ends[1]["dest_qp"]] = connection
            for pair, (acks, reads) in compute(path, connections).items():
                count += 1
                samples += len(acks) + len(reads)
                where = f"{name}.{tap} {pair}"
                for line in [*compare(where + " ACK", connections[pair]["ack_latency_ns"], acks),
                             *compare(where + " READ", connections[pair]["read_latency_ns"], reads)]:
                    bad += 1
                    print(line)
    print(f"{samples} latencies of {count} connections computed independently, {bad} figures differ")
    return 1 if bad or not samples else 0
