#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How fast rocetrace is on this machine, beside `cat` and tshark.

usage: run.py [--dir DIR] [--packets N] [--qps N] [--snap BYTES] [--mtu BYTES] [--rounds N] [--pcapng]
              [--rocetrace PROGRAM] [--compressed]
Builds the release, generates a capture (10 million packets cut at 128 bytes, 4,096 QPs, unless told
otherwise; kept in DIR, build/bench by default), and runs the programs in turns. Speed changes by half
within minutes on shared machines, so only the ratios of one round compare: the median over the rounds of
user + system time, and of each round's ratio to `cat`. --rocetrace adds a second program, for a before
and after. --compressed compares wall times instead, of the capture as gzip, zstd and lz4 files and of their
own programs: with two cores, the analysis should take no longer than the slower of its two halves alone.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TSHARK_PACKETS = 200_000
# How each kind of file is made, and read by others: igzip uses the same library as rocetrace.
COMPRESSIONS = {"gz": (["gzip", "-6", "-c"], [["gzip", "-dc"], ["igzip", "-dc"]]),
                "zst": (["zstd", "-q", "-3", "-c"], [["zstd", "-q", "-dc"]]),
                "lz4": (["lz4", "-q", "-c"], [["lz4", "-q", "-dc"]])}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", default=os.path.join(ROOT, "build", "bench"))
    parser.add_argument("--packets", type=int, default=10_000_000)
    parser.add_argument("--qps", type=int, default=4096)
    parser.add_argument("--snap", type=int, default=128)
    parser.add_argument("--mtu", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pcapng", action="store_true")
    parser.add_argument("--compressed", action="store_true")
    parser.add_argument("--rocetrace", help="another build of the program")
    return parser.parse_args()


def build(folder):
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "cwd": ROOT}
    subprocess.run(["cmake", "--preset", "release", "-B", folder, "-DROCETRACE_BENCH=ON"], **quiet)
    subprocess.run(["cmake", "--build", folder, "-j", str(os.cpu_count()), "--target", "rocetrace",
                    "generate_capture", "bench_stages"], **quiet)


def generated(folder, options, packets):
    """The path of a capture with so many packets, and how many it has; made when it is not there."""
    ending = "pcapng" if options.pcapng else "pcap"
    snap = ["--snap", str(options.snap)] if options.snap else []
    name = f"p{packets}_q{options.qps}_m{options.mtu}_s{options.snap}_r{options.seed}.{ending}"
    path = os.path.join(folder, name)
    if not os.path.exists(path):
        # The same seed: the shorter capture is the beginning of the longer one.
        subprocess.run([os.path.join(folder, "tests/bench/generate_capture"), path + ".part",
                        "--packets", str(packets), "--qps", str(options.qps), "--mtu", str(options.mtu),
                        "--seed", str(options.seed), *snap, *(["--pcapng"] if options.pcapng else [])],
                       check=True, stdout=subprocess.DEVNULL)
        os.rename(path + ".part", path)
    return path


def cost(command):
    """User + system seconds, peak resident MiB, and seconds by the wall clock of one run."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
    errors = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {child.returncode}: {errors.decode(errors='replace')}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, time.monotonic() - begin


def in_turns(commands, rounds):
    """What each command cost, in every round but the first, which warms the page cache."""
    runs = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            measured = cost(command)
            if number > 0:
                runs[name].append(measured)
    return runs


def compare(commands, packets, rounds):
    """Runs the commands in turns; prints medians, and ratios to the first of each round."""
    runs = in_turns(commands, rounds)
    first = [run[0] for run in next(iter(runs.values()))]
    print(f"{'program':<44}{'s':>8}{'ns/packet':>12}{'packets/s':>14}{'x cat':>9}{'MiB':>8}")
    for name, measured in runs.items():
        seconds = [run[0] for run in measured]
        median = statistics.median(seconds)
        ratio = statistics.median(mine / base for mine, base in zip(seconds, first))
        print(f"{name:<44}{median:>8.3f}{median / packets * 1e9:>12.1f}{packets / median:>14.0f}"
              f"{ratio:>9.2f}{max(run[1] for run in measured):>8.0f}", flush=True)


def compare_compressed(capture, rocetrace, rounds):
    """Runs rocetrace and the decompressors on the compressed capture in turns; prints medians."""
    analyze = [rocetrace, "analyze", "--format", "json"]
    commands = {"rocetrace, not compressed": [*analyze, capture]}
    for ending, (pack, unpacks) in COMPRESSIONS.items():
        path = f"{capture}.{ending}"
        if not shutil.which(pack[0]):
            continue
        if not os.path.exists(path):
            with open(path + ".part", "wb") as out:
                subprocess.run([*pack, capture], check=True, stdout=out)
            os.rename(path + ".part", path)
        for unpack in unpacks:
            if shutil.which(unpack[0]):
                commands[f"{' '.join(unpack)} {ending}"] = [*unpack, path]
        commands[f"rocetrace {ending}"] = [*analyze, path]
    print(f"{'program':<44}{'wall s':>8}{'user+system s':>16}")
    for name, measured in in_turns(commands, rounds).items():
        print(f"{name:<44}{statistics.median(run[2] for run in measured):>8.3f}"
              f"{statistics.median(run[0] for run in measured):>16.3f}", flush=True)


def main():
    options = arguments()
    folder = os.path.abspath(options.dir)
    build(folder)
    capture = generated(folder, options, options.packets)
    rocetrace = os.path.join(folder, "rocetrace")

    if options.compressed:
        print(f"{options.packets} packets, {options.qps} QPs, {os.path.getsize(capture)} bytes, "
              f"{os.cpu_count()} cores: medians of {options.rounds} rounds")
        compare_compressed(capture, rocetrace, options.rounds)
        return

    print(f"{options.packets} packets, {options.qps} QPs, {os.path.getsize(capture)} bytes: "
          f"user + system, median of {options.rounds} rounds")
    commands = {"cat": ["cat", capture],
                "rocetrace analyze --format json": [rocetrace, "analyze", "--format", "json", capture]}
    if options.rocetrace:
        commands[f"{options.rocetrace} analyze"] = [options.rocetrace, "analyze", "--format", "json", capture]
    compare(commands, options.packets, options.rounds)

    part_packets = min(options.packets, TSHARK_PACKETS)
    part = generated(folder, options, part_packets)
    print("\nStages, in one process")
    subprocess.run([os.path.join(folder, "tests/bench/bench_stages"), capture, str(options.rounds)], check=True)

    print(f"\nThe first {part_packets} packets")
    commands = {"cat": ["cat", part], "rocetrace analyze --format json": [rocetrace, "analyze", "--format", "json", part]}
    if shutil.which("tshark"):
        commands["tshark -q -z io,stat,0"] = ["tshark", "-r", part, "-q", "-z", "io,stat,0"]
    compare(commands, part_packets, min(options.rounds, 3))


if __name__ == "__main__":
    main()
