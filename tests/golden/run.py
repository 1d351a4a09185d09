#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Golden files: what rocetrace prints for a sample must be, byte for byte, what is stored.

usage: run.py ROCETRACE NAME...            compare; exit code 1 and the difference when they differ
       run.py ROCETRACE --update NAME...   rewrite the stored files (update.sh does this)
The names and what they run are lines of TESTLIST. rocetrace runs in samples/, so that no path of this
checkout gets into the output.
"""

import difflib
import os
import shlex
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, "..", "..", "samples")


def testlist():
    """{name: (sample, options, path of the expected file)}"""
    tests = {}
    with open(os.path.join(HERE, "TESTLIST"), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, sample, options, expected = (field.strip() for field in line.split("|"))
                tests[name] = (sample, options, os.path.join(HERE, "expected", expected))
    return tests


def output_of(rocetrace, sample, options):
    command = [os.path.abspath(rocetrace), *shlex.split(options), *shlex.split(sample)]
    run = subprocess.run(command, cwd=SAMPLES, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
    if run.returncode != 0 or run.stderr:
        sys.exit(f"{shlex.join(command)}: exit {run.returncode}: {run.stderr.decode(errors='replace')}")
    return run.stdout


def difference(stored, printed, expected):
    lines = [text.decode(errors="replace").splitlines(keepends=True) for text in (stored, printed)]
    return "".join(list(difflib.unified_diff(*lines, "stored", "printed", n=1))[:60]) or \
        f"{expected}: bytes differ"


def main():
    rocetrace, names = sys.argv[1], sys.argv[2:]
    update = names[:1] == ["--update"]
    tests, failed = testlist(), False
    for name in names[1:] if update else names:
        if name not in tests:
            sys.exit(f"{name}: not in TESTLIST, which has {', '.join(tests)}")
        sample, options, expected = tests[name]
        printed = output_of(rocetrace, sample, options)
        if update:
            os.makedirs(os.path.dirname(expected), exist_ok=True)
            with open(expected, "wb") as file:
                file.write(printed)
            continue
        stored = b""
        if os.path.exists(expected):
            with open(expected, "rb") as file:
                stored = file.read()
        if printed != stored:
            failed = True
            print(f"{name}: rocetrace {options} {sample} printed something new.\n"
                  f"If that is right: tests/golden/update.sh {name}\n{difference(stored, printed, expected)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
