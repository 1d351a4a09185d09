# SPDX-License-Identifier: BSD-3-Clause
"""A capture cut to 128 bytes per frame must give the same report as the whole one, but for the ICRC."""

import glob
import json
import os
import struct
import subprocess
import tempfile

# What only payload bytes can tell, or what describes the file itself.
ONLY_WHOLE = {"icrc", "file", "truncated_packets", "undecoded_packets", "trust", "trust_reasons", "notes",
              "could_not_judge", "cm"}  # most of a CM message lies behind the first 128 bytes
ONLY_WHOLE_FINDINGS = ("capture.snaplen_short", "icrc.", "cm.")


def report(rocetrace, path):
    run = subprocess.run([rocetrace, "analyze", "--format", "json", path], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        raise SystemExit(f"{path}: exit {run.returncode}: {run.stderr}")
    found = json.loads(run.stdout)
    found["findings"] = [[finding["id"], finding["severity"], finding["count"], finding["first_frame"]]
                         for finding in found["findings"]
                         if not finding["id"].startswith(ONLY_WHOLE_FINDINGS)]
    return found


def differences(whole, cut, place=""):
    """The places where two reports differ, as lines."""
    if isinstance(whole, dict) and isinstance(cut, dict):
        for key in sorted(whole.keys() | cut.keys()):
            if key == "path_mtu" and cut[key] is None and whole["cm"]:
                continue  # from the REQ, as no packet showed it
            if key not in ONLY_WHOLE:
                yield from differences(whole.get(key), cut.get(key), f"{place}.{key}")
    elif isinstance(whole, list) and isinstance(cut, list) and len(whole) == len(cut):
        for index, pair in enumerate(zip(whole, cut)):
            yield from differences(*pair, f"{place}[{index}]")
    elif whole != cut:
        yield f"{place[1:]}: {whole} in the whole capture, {cut} in the cut one"


def records(path):
    """The records of a little-endian pcap file: where each begins, and how many bytes it holds."""
    with open(path, "rb") as file:
        data = file.read()
    at = 24
    while at + 16 <= len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        yield data, at, size
        at += 16 + size


def cut_copy(path, snap, folder):
    """A copy of the capture with at most `snap` bytes of each frame."""
    target = os.path.join(folder, os.path.basename(path))
    with open(target, "wb") as file:
        for data, at, size in records(path):
            if file.tell() == 0:
                file.write(data[:24])
            kept = min(size, snap)
            file.write(data[at:at + 8] + struct.pack("<I", kept) + data[at + 12:at + 16 + kept])
    return target


def twins(lab, folder):
    """Pairs of captures: those made at the same time by a second program, and copies that we cut."""
    for cut in sorted(glob.glob(os.path.join(lab, "*128.pcap"))):
        whole = cut.replace("128.pcap", ".pcap")
        if sum(1 for _ in records(whole)) == sum(1 for _ in records(cut)):
            yield whole, cut
        else:
            print(f"{os.path.basename(cut)}: left out, its capture program saw fewer packets")
    for whole in sorted(glob.glob(os.path.join(lab, "*.a.pcap"))):
        yield whole, cut_copy(whole, 128, folder)


def check(rocetrace, lab):
    failed = count = 0
    with tempfile.TemporaryDirectory() as folder:
        for whole, cut in twins(lab, folder):
            count += 1
            lines = list(differences(report(rocetrace, whole), report(rocetrace, cut)))
            failed += bool(lines)
            for line in lines[:10]:
                print(f"{os.path.basename(cut)}: {line}")
    print(f"{count - failed} of {count} truncated captures agree with the whole ones")
    return 1 if failed or not count else 0
