#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The generator knows what it wrote: what rocetrace reports must be exactly that.

usage: truth.py GENERATE_CAPTURE ROCETRACE BENCH_STAGES
The benchmark program must run, too. Nothing is timed here.
"""

import json
import os
import subprocess
import sys
import tempfile

# Small captures, each harder in one respect than the benchmark's own.
CASES = {
    "whole frames": ["--qps", "64", "--packets", "20000"],
    "cut at 128 bytes": ["--qps", "64", "--packets", "60000", "--snap", "128"],
    "cut at 128 bytes, pcapng": ["--qps", "512", "--packets", "60000", "--snap", "128", "--pcapng"],
    "much loss": ["--qps", "16", "--packets", "40000", "--snap", "128", "--loss", "0.01"],
    "many QPs": ["--qps", "20000", "--packets", "80000", "--snap", "128", "--ce", "0.1"],
    "jumbo frames, IPv6 in a VLAN": ["--qps", "64", "--mtu", "4096", "--packets", "5000", "--v6", "1",
                                     "--vlan", "1"],
}


def output_of(*command):
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {run.returncode}: {run.stderr}")
    return run.stdout


def counts(report):
    """The generator's counts, from a report."""
    flows, totals = report["half_flows"], report["totals"]
    return {
        "packets": totals["packets"],
        "roce": totals["roce_packets"],
        "acks": sum(flow["responses"]["acks"] for flow in flows),
        "naks": totals["naks"],
        "cnps": totals["cnps"],
        "ce_marked": totals["ce_marked"],
        "gaps": sum(flow["requests"]["gaps"] for flow in flows),
        "missing_psns": sum(flow["requests"]["missing_psns"] for flow in flows),
        "retransmissions": totals["retransmissions"],
        "icrc_bad": sum(flow["icrc"]["bad"] for flow in flows),
    }


def main():
    generate, rocetrace, stages = sys.argv[1:]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        capture = os.path.join(folder, "generated")
        for name, options in CASES.items():
            truth = json.loads(output_of(generate, capture, *options)) | {"icrc_bad": 0}
            found = counts(json.loads(output_of(rocetrace, "analyze", "--format", "json", capture)))
            for key, value in found.items():
                if value != truth[key]:
                    failed = True
                    print(f"{name}: {key}: {value} reported, {truth[key]} generated")
        output_of(stages, capture, "1")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
