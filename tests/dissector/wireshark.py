# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs tshark with the plugin, or without it.

Wireshark does not load plugins from where the user says when it runs as root, so root becomes
nobody first. Everything that this user needs to read is copied to a folder of its own.
"""

import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
CAPTURES = os.path.join(HERE, "captures")
SAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "samples")
PLUGIN = os.environ.get("ROCETRACE_PLUGIN", "")
SANITIZER = os.environ.get("ROCETRACE_SANITIZER", "")  # a runtime to be loaded with tshark
SHARED = os.environ.get("ROCETRACE_SHARED", "")
NOBODY = 65534
SKIPPED = 77


def folder():
    """A folder of this run that everybody can read and nobody can write to."""
    if not hasattr(folder, "path"):
        folder.path = tempfile.mkdtemp(prefix="rocetrace_plugin_")
        atexit.register(shutil.rmtree, folder.path, ignore_errors=True)
        os.chmod(folder.path, 0o755)
        series = os.path.basename(os.path.dirname(os.path.dirname(PLUGIN)))
        for name, plugins in (("with", [PLUGIN]), ("without", [])):
            target = os.path.join(folder.path, name, series, "epan")
            os.makedirs(target)
            for plugin in plugins:
                shutil.copy(plugin, target)
    return folder.path


def new_home():
    """An empty home directory of the user who runs tshark."""
    home = tempfile.mkdtemp(dir=folder())
    if os.getuid() == 0:
        os.chown(home, NOBODY, NOBODY)
    return home


def readable(capture):
    """The capture, where the user who runs tshark can read it."""
    target = os.path.join(folder(), os.path.basename(capture))
    if not os.path.exists(target):
        shutil.copy(capture, target)
        os.chmod(target, 0o644)
    return target


def command_of(arguments, plugin=True, home=None):
    """What to run, and in which environment."""
    command = []
    environment = {
        "PATH": os.environ["PATH"], "HOME": home or new_home(), "LC_ALL": "C.UTF-8", "TZ": "UTC",
        "COLORTERM": "truecolor",
        "WIRESHARK_PLUGIN_DIR": os.path.join(folder(), "with" if plugin else "without"),
    }
    if SANITIZER:
        environment["LD_PRELOAD"] = SANITIZER
        environment["ASAN_OPTIONS"] = "detect_leaks=0:abort_on_error=1:symbolize=1"
        environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
    if os.getuid() == 0:
        command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return command + ["tshark", *arguments], environment


def run(arguments, plugin=True, home=None, check=True, timeout=300, stdout=subprocess.PIPE):
    """Runs tshark; returns its standard output, if it is not sent elsewhere, and standard error."""
    command, environment = command_of(arguments, plugin, home)
    done = subprocess.run(command, env=environment, stdout=stdout, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=timeout)
    if check and done.returncode != 0:
        raise AssertionError(f"tshark {arguments}: {done.returncode}\n{done.stderr}")
    return done.stdout, done.stderr


def run_in_terminal(arguments, home=None):
    """What tshark writes to a terminal."""
    command, environment = command_of(arguments, home=home)
    reader, terminal = os.openpty()
    with subprocess.Popen(command, env=environment, stdout=terminal,
                          stderr=subprocess.DEVNULL) as process:
        os.close(terminal)
        written = b""
        while True:
            try:
                part = os.read(reader, 65536)
            except OSError:  # the other side was closed
                break
            if not part:
                break
            written += part
        process.wait(timeout=60)
    os.close(reader)
    return written.decode(errors="replace")


def fields(capture, names, *arguments, plugin=True, passes=2):
    """One list of values per frame."""
    wanted = [part for name in names for part in ("-e", name)]
    more = ["-2"] if passes == 2 else []
    out, _ = run(["-r", readable(capture), *more, "-T", "fields", *wanted, *arguments], plugin)
    return [line.split("\t") for line in out.splitlines()]


def frames(capture, display_filter, *arguments, plugin=True):
    """The numbers of the frames that a display filter shows."""
    rows = fields(capture, ["frame.number"], "-Y", display_filter, *arguments, plugin=plugin)
    return [int(row[0]) for row in rows]


def info(capture, *arguments, plugin=True, passes=2):
    """The Info column of every frame."""
    return [row[0] for row in fields(capture, ["_ws.col.Info"], *arguments, plugin=plugin,
                                     passes=passes)]


def layers(capture, names, *arguments, plugin=True):
    """For each frame, those of its layers whose names are given, with all their fields."""
    out, _ = run(["-r", readable(capture), "-2", "-T", "json", "--no-duplicate-keys",
                  "-J", " ".join([*names, "icmp"]), *arguments], plugin)
    # What an ICMP error quotes is inside of it since Wireshark 4.4, and behind it before.
    frames_seen = [frame["_source"]["layers"] for frame in json.loads(out)]
    return [{name: layer for name, layer in {**seen, **seen.get("icmp", {})}.items()
             if name in names} for seen in frames_seen]


def capture(name):
    return os.path.join(CAPTURES, name)


def sample(name):
    return os.path.join(SAMPLES, name)


def lab(pattern=r".*\.pcap"):
    """Captures with ground truth, where they are at hand."""
    where = os.path.join(SHARED, "captures", "lab")
    if not os.path.isdir(where):
        raise unittest.SkipTest(f"{where} is not there")
    return [os.path.join(where, name) for name in sorted(os.listdir(where))
            if re.fullmatch(pattern, name)]


def main():
    """Runs the tests of the script; exits with SKIPPED when not one of them could be run."""
    if not os.path.exists(PLUGIN) or not shutil.which("tshark"):
        print("skipped: no plugin was built, or tshark is not there")
        sys.exit(SKIPPED)
    result = unittest.main(exit=False, verbosity=2).result
    for test, reason in result.skipped:
        print(f"SKIPPED {test}: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    if result.testsRun > 0 and len(result.skipped) == result.testsRun:
        sys.exit(SKIPPED)
