#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks rocetrace against captures with ground truth.

usage: run.py SHARED ROCETRACE acceptance|clean|pairs|place|truncated_twins
SHARED holds captures/lab and tools/. Exit code 77, which ctest counts as skipped, when it does not exist.
"""

import glob
import os
import subprocess
import sys

import truncated_twins


def main():
    shared, rocetrace, name = sys.argv[1:]
    lab = os.path.join(shared, "captures", "lab")
    if not glob.glob(os.path.join(lab, "*.pcap")):
        print(f"{os.path.normpath(lab)} is not there: nothing to check against")
        return 77
    if name == "truncated_twins":
        return truncated_twins.check(rocetrace, lab)
    tool = os.path.join(shared, "tools", name + ".py")
    return subprocess.run([sys.executable, "-B", tool, rocetrace, lab], stdin=subprocess.DEVNULL).returncode


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    sys.exit(main())
