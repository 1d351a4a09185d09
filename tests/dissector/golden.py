# SPDX-License-Identifier: GPL-2.0-or-later
"""What tshark says of every field, held to files that were looked at.

usage: golden.py            compares
       golden.py --update   writes what is said now; look at the difference

Captures made by hand have all their frames there, as fields and as JSON; samples have their first
frames and those with a verdict; captures with ground truth have counts.
"""

import collections
import json
import os
import sys
import unittest

import wireshark

EXPECTED = os.path.join(wireshark.HERE, "expected")
FIELDS = ["roce.stream", "roce.half_flow", "roce.bth.opcode", "roce.bth.destqp", "roce.bth.psn",
          "roce.srcqp", "roce.message", "roce.message.offset", "roce.message.length",
          "roce.analysis.class", "roce.analysis.cause", "roce.analysis.place",
          "roce.analysis.episode", "roce.analysis.missing", "roce.analysis.acks",
          "roce.analysis.acked_in", "roce.analysis.ack_rtt", "roce.analysis.read_rtt",
          "roce.analysis.message_time", "roce.analysis.original", "roce.analysis.resent_in",
          "roce.analysis.nak_cause", "roce.analysis.nak_delay", "roce.analysis.nak_frame",
          "roce.analysis.nak_reaction", "roce.analysis.outstanding",
          "roce.analysis.outstanding_bytes", "roce.analysis.cnp_interval",
          "roce.analysis.ce_to_cnp", "roce.icrc.status", "roce.bth.fecn", "roce.bth.becn"]
WORDS = {"roce.analysis.class", "roce.analysis.cause", "roce.analysis.place", "roce.icrc.status",
         "roce.bth.opcode"}
BOOLEANS = {"True": "1", "False": "0"}  # since Wireshark 4.2
FIRST = 40
ONE_TAP = r"(?!a\d\d).*\.a\.pcap"  # of each situation; those that vary sizes differ in little else


def said(capture):
    """One line per frame: number, summary, and every field that is there."""
    lines = []
    for row in wireshark.fields(capture, ["frame.number", "_ws.col.Info", *FIELDS], "-Y", "roce"):
        number, info, *values = row
        pairs = [f"{name.removeprefix('roce.')}={BOOLEANS.get(value, value)}"
                 for name, value in zip(FIELDS, values) if value]
        lines.append(f"{number}: {info.split(' | ')[0].split('[Malformed')[0].strip()}\n    "
                     + " ".join(pairs))
    return lines


def of_sample(capture):
    lines = said(capture)
    judged = [line for line in lines[FIRST:]
              if "class=" in line and "class=in_order" not in line or "nak_" in line]
    return "".join(line + "\n" for line in lines[:FIRST] + judged[:FIRST])


def simplified(value):
    if isinstance(value, dict):
        return {name: simplified(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [simplified(inner) for inner in value]
    return BOOLEANS.get(value, value)


def of_hand_made_json(capture):
    frames = wireshark.layers(capture, ["roce"])
    return "".join(json.dumps(simplified(frame)) + "\n" for frame in frames)


def counts(capture):
    """How often each field is there, and each word of those that have words."""
    tally = collections.Counter()
    for row in wireshark.fields(capture, FIELDS, "-Y", "roce"):
        for name, value in zip(FIELDS, row):
            if value:
                short = name.removeprefix("roce.").removeprefix("analysis.")
                tally[f"{short}={value}" if name in WORDS else short] += 1
    return " ".join(f"{name}:{count}" for name, count in sorted(tally.items()))


def of_lab(captures):
    return "".join(f"{os.path.basename(name)}\n    {counts(name)}\n" for name in captures)


def without_payload(frame):
    """The frame's layers, with the beginning of its payload only."""
    payload = frame.get("roce", {}).get("roce.payload")
    if isinstance(payload, str):
        frame["roce"]["roce.payload"] = payload[:23]
    return frame


def of_lab_json(captures):
    """Of each capture, the whole of the first frame of each kind."""
    lines = []
    for name in captures:
        first = {}
        for number, *kind in wireshark.fields(
                name, ["frame.number", "roce.bth.opcode", "roce.analysis.class", "roce.analysis.cause",
                       "roce.analysis.place", "roce.analysis.nak_cause"], "-Y", "roce"):
            first.setdefault(tuple(kind), number)
        wanted = ",".join(first.values())
        lines.append(os.path.basename(name) + "\n")
        lines.extend(f"    {json.dumps(simplified(without_payload(frame)))}\n" for frame in
                     wireshark.layers(name, ["roce"], "-Y", f"frame.number in {{{wanted}}}"))
    return "".join(lines)


def pcaps(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))
            if name.endswith(".pcap")]


def makers():
    """Name of an expected file -> what makes its content."""
    made = {}
    for path in pcaps(wireshark.CAPTURES):
        name = os.path.basename(path).removesuffix(".pcap")
        made[f"{name}.txt"] = lambda path=path: "\n".join(said(path)) + "\n"
        made[f"{name}.ndjson"] = lambda path=path: of_hand_made_json(path)
    for path in pcaps(wireshark.SAMPLES):
        name = os.path.basename(path).removesuffix(".pcap")
        made[f"sample_{name}.txt"] = lambda path=path: of_sample(path)
    made["lab.txt"] = lambda: of_lab(wireshark.lab())
    made["lab.ndjson"] = lambda: of_lab_json(wireshark.lab(ONE_TAP))
    return made


class Golden(unittest.TestCase):
    maxDiff = 4000

    def test_what_is_said(self):
        for name, make in makers().items():
            with self.subTest(name):
                new = make()
                with open(os.path.join(EXPECTED, name), encoding="utf-8") as file:
                    self.assertEqual(new.splitlines(), file.read().splitlines())


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        os.makedirs(EXPECTED, exist_ok=True)
        for name, make in makers().items():
            content = make()
            with open(os.path.join(EXPECTED, name), "w", encoding="utf-8") as file:
                file.write(content)
    else:
        wireshark.main()
