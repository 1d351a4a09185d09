# SPDX-License-Identifier: BSD-3-Clause
"""Holds connections to the hosts' own QP tables, as captured and with the communication manager's packets taken out.

A table was read while the traffic ran: a QP that was not connected yet has peer 0 in it, which says nothing.
"""

import glob
import json
import os
import subprocess
import tempfile

from wire import parse, read_records, write_records

SURE = 0.9
LEAST_FOUND = 0.98


def report(rocetrace, path):
    run = subprocess.run([rocetrace, "analyze", "--format", "json", path], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=120, check=True)
    return json.loads(run.stdout)


def from_a(half_flow):
    return half_flow["source"].endswith((".1", "::1"))


def pairs_of(result):
    """{(QP at a, QP at b): (evidence, confidence)}, and the QPs that carried RC packets, at a and at b."""
    half_flows = {half_flow["id"]: half_flow for half_flow in result["half_flows"]}
    reliable = [half_flow for half_flow in half_flows.values() if half_flow["service"] == "RC"]
    to_a = {half_flow["dest_qp"] for half_flow in reliable if not from_a(half_flow)}
    to_b = {half_flow["dest_qp"] for half_flow in reliable if from_a(half_flow)}
    found = {}
    for connection in result["connections"]:
        ends = [half_flows[id] for id in connection["half_flows"] if id]
        if len(ends) != 2 or ends[0]["service"] != "RC":
            continue
        ends.sort(key=from_a)
        found[ends[0]["dest_qp"], ends[1]["dest_qp"]] = (connection["evidence"], connection["confidence"] or 0)
    return found, to_a, to_b


def without_cm(path, target):
    kept = []
    for record in read_records(path):
        packet = parse(record)
        if packet is None or packet.qp != 1:
            kept.append(record)
    write_records(target, kept)


class Score:
    def __init__(self):
        self.wanted = self.found = self.wrong = 0

    def add(self, where, result, true):
        found, to_a, to_b = pairs_of(result)
        for pair in true:
            if pair[0] in to_a and pair[1] in to_b:
                self.wanted += 1
                self.found += pair in found
                if pair not in found:
                    print(f"{where}: {pair} not paired")
        for pair, (evidence, confidence) in found.items():
            conflicts = [other for other in true if (other[0] == pair[0]) != (other[1] == pair[1])]
            if conflicts and confidence > SURE:
                self.wrong += 1
                print(f"{where}: {pair} paired by {evidence} with confidence {confidence}, truly {conflicts}")
        return found

    def report(self, what):
        print(f"{what}: {self.found} of {self.wanted} connections paired rightly, {self.wrong} wrongly above {SURE}")
        return self.wanted > 0 and self.found >= LEAST_FOUND * self.wanted and self.wrong == 0


def check(rocetrace, lab):
    whole, filtered = Score(), Score()
    differing = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(glob.glob(os.path.join(lab, "*.expect.json"))):
            with open(file, encoding="utf-8") as opened:
                expected = json.load(opened)
            true = {tuple(pair) for pair in expected.get("qp_pairs_a_b") or [] if all(pair)}
            for tap in "ab":
                path = os.path.join(lab, f"{expected['scenario']}.{tap}.pcap")
                if not true or not os.path.exists(path):
                    continue
                name = os.path.basename(path)
                with_cm = whole.add(name, report(rocetrace, path), true)
                target = os.path.join(folder, name)
                without_cm(path, target)
                alone = filtered.add(name + " without CM", report(rocetrace, target), true)
                if set(with_cm) != set(alone):
                    differing += 1
                    print(f"{name}: paired with CM only {sorted(set(with_cm) - set(alone))}, "
                          f"without only {sorted(set(alone) - set(with_cm))}")
    good = whole.report("as captured")
    good = filtered.report("without CM packets") and good
    print(f"{differing} captures are paired differently without CM packets")
    return 0 if good and not differing else 1
