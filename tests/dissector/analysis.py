# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin and the analyzer judge with the same core: they say the same of every packet."""

import json
import os
import subprocess
import unittest

import wireshark

PROGRAM = os.environ.get("ROCETRACE_PROGRAM", "")

# What the listing calls it, and the field that says the same.
SAME = {
    "dest_qp": "roce.bth.destqp", "psn": "roce.bth.psn", "payload_bytes": "roce.payload.length",
    "half_flow": "roce.half_flow", "class": "roce.analysis.class", "cause": "roce.analysis.cause",
    "place": "roce.analysis.place", "icrc": "roce.icrc.status",
}


def number(text):
    return int(text, 0) if text else None


def by_rocetrace(capture):
    """Frame number -> what `rocetrace packets` says of it."""
    listed = subprocess.run([PROGRAM, "packets", "--format", "ndjson", capture], check=True,
                            capture_output=True, text=True).stdout
    rows = {}
    for line in listed.splitlines():
        row = json.loads(line)
        rows[row["frame"]] = {name: row.get(name) for name in SAME}
        rows[row["frame"]]["payload_bytes"] = row["payload_bytes"] or None
    return rows


def by_plugin(capture):
    rows = {}
    for values in wireshark.fields(capture, ["frame.number", *SAME.values()], "-Y", "roce.bth.psn"):
        row = dict(zip(SAME, values[1:]))
        for name in ("dest_qp", "psn", "half_flow"):
            row[name] = number(row[name])
        row["payload_bytes"] = number(row["payload_bytes"]) or None
        rows[int(values[0])] = {name: value if value != "" else None for name, value in row.items()}
    return rows


class EqualsRocetrace(unittest.TestCase):
    def compare(self, capture):
        ours, theirs = by_plugin(capture), by_rocetrace(capture)
        for frame in sorted(ours.keys() | theirs.keys()):
            if ours.get(frame) != theirs.get(frame):
                self.fail(f"{capture}, frame {frame}:\n plugin    {ours.get(frame)}\n"
                          f" rocetrace {theirs.get(frame)}")

    def test_in_samples(self):
        for name in sorted(os.listdir(wireshark.SAMPLES)):
            if name.endswith(".pcap"):
                with self.subTest(name):
                    self.compare(wireshark.sample(name))

    def test_in_lab_captures(self):
        for capture in wireshark.lab():
            with self.subTest(capture):
                self.compare(capture)


if __name__ == "__main__":
    wireshark.main()
