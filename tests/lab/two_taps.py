# SPDX-License-Identifier: BSD-3-Clause
"""What both taps saw, merged into one trace, must be judged as one of them: copies are no retransmissions.

The taps' clocks are up to a second apart.
"""

import glob
import json
import os
import subprocess
import tempfile

COUNTS = ("retransmissions", "missing_psns", "gaps", "reordered", "episodes", "stale", "by_cause", "by_place")
FEW = 64  # packets of a tap, of which two taps cannot be told from resends


def report(rocetrace, *paths):
    run = subprocess.run([rocetrace, "analyze", "--format", "json", *paths], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        raise SystemExit(f"{paths}: exit {run.returncode}: {run.stderr}")
    return json.loads(run.stdout)


def counts(found):
    return {(flow["source"], flow["dest_qp"]): [flow["requests"][key] for key in COUNTS]
            for flow in found["half_flows"] if flow["requests"]["packets"] > 0}


def merged(folder, name, taps, *options):
    path = os.path.join(folder, name)
    subprocess.run(["mergecap", "-w", path, *options, *taps], check=True, stdin=subprocess.DEVNULL)
    return path


def check(rocetrace, lab):
    checked = mixed = 0
    wrong = []
    for first in sorted(glob.glob(os.path.join(lab, "*.a.pcap"))):
        taps = [first, first.removesuffix("a.pcap") + "b.pcap"]
        if not os.path.exists(taps[1]):
            continue
        name = os.path.basename(first).removesuffix(".a.pcap")
        alone = [report(rocetrace, tap) for tap in taps]
        each = [counts(found) for found in alone]
        with tempfile.TemporaryDirectory() as folder:
            ways = {"two files": taps, "two files, the other way round": taps[::-1],
                    "two interfaces": [merged(folder, "interfaces.pcapng", taps, "-I", "none")]}
            for way, paths in ways.items():
                checked += 1
                together = counts(report(rocetrace, *paths))
                if together not in each:
                    wrong.append(f"{name}, {way}: {together}, but {each} alone")
            together = report(rocetrace, merged(folder, "mixed.pcap", taps, "-F", "nsecpcap"))
            checked += 1
            if together["totals"]["retransmissions"] is None:
                mixed += 1
            elif min(found["totals"]["roce_packets"] for found in alone) >= FEW:
                if counts(together) not in each:
                    wrong.append(f"{name}, mixed: {counts(together)}, but {each} alone")
    print(*wrong, sep="\n")
    print(f"{checked} traces of two taps, {len(wrong)} judged otherwise than one tap alone; "
          f"{mixed} that mix the taps, of which nothing was claimed")
    return 1 if wrong or mixed == 0 else 0
