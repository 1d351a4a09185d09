#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The program as a shell sees it: exit codes, what goes to which stream, files whole or not at all.

usage: run.py ROCETRACE
"""

import fcntl
import glob
import json
import os
import pty
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(HERE, "..", "..", "samples")
ROCETRACE = ""
SAMPLE = ""


def run(*words, **how):
    """The finished process; nothing on standard input unless `how` says so."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL, **how}
    return subprocess.run([ROCETRACE, *words], timeout=60, check=False, **how)


class Program(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def assert_refused(self, process, *words):
        self.assertEqual(process.returncode, 2)
        self.assertEqual(process.stdout or b"", b"")
        message = process.stderr.decode()
        self.assertEqual(message.count("\n"), 1, message)
        for word in ("rocetrace: ", *words):
            self.assertIn(word, message)

    def test_report_goes_to_standard_output_alone(self):
        done = run("analyze", "--format", "json", SAMPLE)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(json.loads(done.stdout)["schema"], "rocetrace/1")

    def test_help_and_version_succeed(self):
        for words in (["--help"], ["--version"], ["analyze", "--help"], ["packets", "-h"], ["explain"]):
            done = run(*words)
            self.assertEqual((done.returncode, done.stderr), (0, b""), words)
            self.assertTrue(done.stdout.endswith(b"\n"), words)

    def test_bad_option_is_one_line(self):
        self.assert_refused(run("analyze", "--nonsense", SAMPLE), "--nonsense")
        self.assert_refused(run(), "--help")
        self.assert_refused(run("explain", "nonsense\x1b[2J"), "nonsense\\x1b")

    def test_missing_capture_is_named(self):
        self.assert_refused(run("analyze", self.path("no.pcap")), "no.pcap", "No such file")

    def test_file_that_is_no_capture_is_named(self):
        with open(self.path("text.pcap"), "w", encoding="ascii") as file:
            file.write("this is no capture, but it is longer than a header\n")
        self.assert_refused(run("analyze", self.path("text.pcap")), "text.pcap")

    def test_counters_come_as_two_dumps(self):
        dump = self.path("dump")
        with open(dump, "w", encoding="ascii") as file:
            file.write("link mlx5_0/1 out_of_sequence 0\n")
        self.assert_refused(run("analyze", SAMPLE, "--counters-before", dump), "--counters-after")
        self.assert_refused(run("analyze", SAMPLE, "--counters-after", dump), "--counters-before")
        self.assert_refused(run("analyze", SAMPLE, "--counters-host", "10.0.0.1"), "--counters-before")
        both = ["--counters-before", dump, "--counters-after"]
        self.assert_refused(run("analyze", SAMPLE, *both, self.path("none")), "none")
        self.assert_refused(run("analyze", SAMPLE, *both, SAMPLE), SAMPLE)
        self.assertEqual(run("analyze", SAMPLE, *both, dump).returncode, 0)

    def test_standard_input_gives_the_same_numbers(self):
        with open(SAMPLE, "rb") as file:
            piped = run("analyze", "--format", "json", "-", stdin=file)
        named = run("analyze", "--format", "json", SAMPLE)
        self.assertEqual(json.loads(piped.stdout)["half_flows"], json.loads(named.stdout)["half_flows"])

    def test_thread_count_changes_nothing(self):
        outputs = {run("analyze", "--format", "json", "--threads", n, SAMPLE).stdout for n in "124"}
        self.assertEqual(len(outputs), 1)

    def test_output_files_hold_what_standard_output_holds(self):
        done = run("analyze", SAMPLE, "-o", self.path("a.json"), "-o", self.path("a.csv"))
        self.assertEqual(done.returncode, 0)
        printed = run("analyze", "--format", "json", SAMPLE)
        with open(self.path("a.json"), "rb") as file:
            self.assertEqual(file.read(), printed.stdout)
        self.assertEqual(sorted(os.listdir(self.folder)),
                         sorted(["a.json"] + [f"a.{table}.csv" for table in (
                             "captures", "connections", "could_not_judge", "dcbx", "findings", "half_flows",
                             "hosts", "icmp_errors", "message_times", "pauses", "protocols", "samples",
                             "subnet_pairs", "time_bins", "totals")]))

    def test_output_folder_that_is_not_there_leaves_nothing(self):
        refused = run("analyze", SAMPLE, "-o", self.path("no/a.json"))
        self.assertEqual(refused.returncode, 2)
        self.assertIn(b"no/a.json", refused.stderr)
        self.assertTrue(refused.stdout, "the other reports are written all the same")
        self.assertEqual(os.listdir(self.folder), [])

    def assert_only_fails(self, failing, others, **how):
        """One output fails, is named once and leaves nothing; the others and the report are there."""
        words = [word for name in [failing, *others] for word in ("-o", self.path(name))]
        done = run("analyze", SAMPLE, *words, **how)
        self.assertEqual(done.returncode, 2)
        message = done.stderr.decode()
        self.assertEqual(message.count("\n"), 1, message)
        self.assertIn(failing.removesuffix("csv"), message)
        self.assertTrue(done.stdout)
        for name in others:
            self.assertGreater(os.path.getsize(self.path(name)), 100, name)
        return message

    def test_all_outputs_come_of_one_run(self):
        names = ["a.html", "a.sqlite", "a.pcapng", "a.md", "a.json", "a.ndjson", "a.txt"]
        done = run("analyze", SAMPLE, *[word for name in names for word in ("-o", self.path(name))])
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(sorted(os.listdir(self.folder)), sorted(names))

    def test_output_that_fails_does_not_take_the_others_along(self):
        others = ["b.html", "b.sqlite", "b.pcapng", "b.json"]
        for extension in ("html", "sqlite", "pcapng", "json", "csv", "md"):
            message = self.assert_only_fails(f"no/a.{extension}", others)
            if extension != "sqlite":
                self.assertIn("No such file", message)
            self.assertEqual(sorted(os.listdir(self.folder)), sorted(others))
            for name in others:
                os.unlink(self.path(name))

    def test_output_on_a_full_disk_does_not_take_the_others_along(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for extension in ("html", "json", "md", "pcapng"):
            os.symlink("/dev/full", self.path(f"full.{extension}"))
            message = self.assert_only_fails(f"full.{extension}", ["b.html", "b.json"])
            self.assertIn("No space left", message)

    def test_output_that_grows_too_large_leaves_nothing(self):
        def no_large_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
        for extension in ("html", "sqlite"):
            self.assert_only_fails(f"a.{extension}", ["b.md", "b.txt"], preexec_fn=no_large_files)
            self.assertEqual(sorted(os.listdir(self.folder)), ["b.md", "b.txt"])

    def test_output_whose_reader_is_gone_does_not_take_the_others_along(self):
        os.mkfifo(self.path("gone.html"))
        reader = threading.Thread(target=lambda: os.close(os.open(self.path("gone.html"), os.O_RDONLY)))
        reader.start()
        message = self.assert_only_fails("gone.html", ["b.html", "b.sqlite"])
        reader.join()
        self.assertIn("reader is gone", message)

    def test_closed_pipe_hides_no_failure_of_a_file(self):
        read, write = os.pipe()
        os.close(read)
        done = run("analyze", SAMPLE, "-o", self.path("no/a.html"), stdout=write)
        os.close(write)
        self.assertEqual(done.returncode, 2)

    def test_evidence_says_in_wireshark_what_it_is(self):
        if not shutil.which("tshark"):
            self.skipTest("no tshark")
        run("analyze", os.path.join(SAMPLES, "loss_write_vlan.pcap"), "-o", self.path("a.pcapng"))
        shown = subprocess.run(["tshark", "-r", self.path("a.pcapng"), "-T", "fields", "-e", "frame.comment"],
                               capture_output=True, text=True, timeout=60, check=True).stdout
        for words in ("finding: loss.retransmission", "NAK: PSN sequence error", "class retransmission",
                      "cause nak_sequence", "place downstream", "half-flow 1: 10.1.0.1 -> 10.1.0.2 QP 0x51"):
            self.assertIn(words, shown)

    def test_queries_of_the_readme_answer(self):
        if not shutil.which("sqlite3"):
            self.skipTest("no sqlite3")
        run("analyze", os.path.join(SAMPLES, "loss_write_vlan.pcap"), "-o", self.path("data.sqlite"))
        with open(os.path.join(HERE, "..", "..", "README.md"), encoding="utf-8") as readme:
            queries = [line.strip() for line in readme if line.startswith("sqlite3 data.sqlite ")]
        self.assertGreaterEqual(len(queries), 3)
        for query in queries:
            done = subprocess.run(["sh", "-c", query], cwd=self.folder, capture_output=True, text=True,
                                  timeout=60, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""), query)
            self.assertTrue(done.stdout, query)

    def test_database_answers_the_sqlite_shell(self):
        if not shutil.which("sqlite3"):
            self.skipTest("no sqlite3")
        for _ in range(2):
            run("analyze", os.path.join(SAMPLES, "loss_write_vlan.pcap"), "-o", self.path("a.sqlite"))

        def ask(sql):
            return subprocess.run(["sqlite3", self.path("a.sqlite"), sql], capture_output=True, text=True,
                                  timeout=60, check=True).stdout.split()
        self.assertEqual(ask("SELECT run, resent FROM worst_half_flows WHERE resent > 0"), ["1|153", "2|153"])
        self.assertEqual(ask("SELECT count(*) FROM events WHERE run = 2 AND kind = 'nak'"), ["7"])
        self.assertEqual(ask("SELECT id FROM findings WHERE run = 1 AND severity = 'warning'"), ["nak.slow_reaction"])
        # One event for each packet that was sent again, and for each sender's restart the same number.
        self.assertEqual(ask("SELECT count(*), sum(packets), count(DISTINCT half_flow || ' ' || episode) = "
                             "sum(packets IS NOT NULL) FROM events WHERE run = 2 AND kind = 'retransmission'"),
                         ["153|153|1"])
        self.assertEqual(ask("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') EXCEPT "
                             "SELECT name FROM descriptions"), [])
        self.assertEqual(ask("SELECT name FROM descriptions EXCEPT SELECT name FROM sqlite_schema"), [])

    def test_full_disk_fails(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        for words in (["analyze"], ["packets"], ["analyze", "--format", "json"]):
            with open("/dev/full", "wb") as full:
                self.assert_refused(run(*words, SAMPLE, stdout=full), "No space left")

    def to_closed_pipe(self, *words):
        read, write = os.pipe()
        os.close(read)
        done = run(*words, stdout=write)
        os.close(write)
        return done

    def test_report_whose_reader_is_gone_fails(self):
        for words in ([], ["--format", "json"], ["-o", self.path("a.html"), "-o", self.path("a.json")]):
            done = self.to_closed_pipe("analyze", SAMPLE, *words)
            self.assertEqual((done.returncode, done.stderr),
                             (2, b"rocetrace: standard output: its reader is gone\n"), words)
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.html", "a.json"])

    def test_listing_may_be_read_in_part(self):
        for words in (["packets", SAMPLE], ["explain"], ["--help"]):
            done = self.to_closed_pipe(*words)
            self.assertEqual((done.returncode, done.stderr), (0, b""), words)

    def test_findings_decide_the_exit_code_as_asked(self):
        lossy = os.path.join(SAMPLES, "loss_write_vlan.pcap")
        for level, code in (("info", 1), ("warning", 1), ("error", 1)):
            self.assertEqual(run("analyze", lossy, "--fail-on", level).returncode, code, level)
        quiet = ["--set", "loss.retransmission.error=100%", "--set", "nak.slow.error=10s"]
        self.assertEqual(run("analyze", lossy, "--fail-on", "error", *quiet).returncode, 0)
        self.assertEqual(run("analyze", lossy, "--fail-on", "warning", *quiet).returncode, 1)
        config = self.path("limits")
        with open(config, "w", encoding="ascii") as file:
            file.write("# ours\nloss.retransmission.error = 100%\nnak.slow.error=10s  # no hurry\n")
        self.assertEqual(run("analyze", lossy, "--fail-on", "error", "--config", config).returncode, 0)
        self.assertEqual(run("analyze", lossy, "--fail-on", "error", "--config", config, "--set",
                             "loss.retransmission.error=1%").returncode, 1)
        self.assert_refused(run("analyze", lossy, "--config", self.path("none")), "none")
        self.assert_refused(run("analyze", lossy, "--set", "loss=1"), "loss=1")

    def test_subnets_are_as_long_as_asked(self):
        def subnets(*words):
            report = json.loads(run("analyze", "--format", "json", SAMPLE, *words).stdout)
            return {row["source"] for row in report["subnet_pairs"]}
        host = sorted(subnets("--subnet-prefix", "32"))[0]
        address, bits = host.split("/")
        self.assertEqual(bits, "32")
        self.assertEqual(subnets("--subnet-prefix", "8"), {address.split(".")[0] + ".0.0.0/8"})
        self.assertIn(".".join(address.split(".")[:3]) + ".0/24", subnets())
        self.assert_refused(run("analyze", SAMPLE, "--subnet-prefix", "33"), "--subnet-prefix")

    def test_no_colour_and_no_bar_without_a_terminal(self):
        done = run("analyze", SAMPLE)
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)

    def on_terminal(self, width, sample, **environment):
        """What a terminal of that many columns is told."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        process = subprocess.Popen([ROCETRACE, "analyze", sample], stdin=subprocess.DEVNULL, stdout=theirs,
                                   stderr=subprocess.PIPE, env={**os.environ, "TERM": "xterm", **environment})
        os.close(theirs)
        told = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # how Linux ends a terminal
                part = b""
            if not part:
                break
            told += part
        os.close(ours)
        self.assertEqual(process.communicate()[1], b"")
        return told.decode().replace("\r", "")

    def test_lines_fit_the_terminal(self):
        for sample in sorted(glob.glob(os.path.join(SAMPLES, "*.pcap"))):
            for width in (80, 120):
                for line in re.sub(r"\x1b\[[0-9;]*m", "", self.on_terminal(width, sample)).split("\n"):
                    self.assertLessEqual(len(line), width, f"{sample}: {line}")

    def test_colours_are_for_terminals_that_want_them(self):
        self.assertIn("\x1b[31m", self.on_terminal(100, SAMPLE))
        self.assertNotIn("\x1b", self.on_terminal(100, SAMPLE, NO_COLOR="1"))
        self.assertNotIn("\x1b", self.on_terminal(100, SAMPLE, TERM="dumb"))
        coloured = run("analyze", SAMPLE, "--color", "always").stdout
        self.assertIn(b"\x1b[31m", coloured)
        self.assertEqual(re.sub(rb"\x1b\[[0-9;]*m", b"", coloured), run("analyze", SAMPLE).stdout)
        self.assertEqual(run("analyze", SAMPLE, "--color", "auto").stdout, run("analyze", SAMPLE).stdout)
        self.assert_refused(run("analyze", SAMPLE, "--color", "blue"), "blue")

    def test_locale_changes_nothing(self):
        environment = {**os.environ, "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}
        self.assertEqual(run("analyze", SAMPLE, env=environment).stdout, run("analyze", SAMPLE).stdout)


def main():
    global ROCETRACE, SAMPLE
    ROCETRACE = os.path.abspath(sys.argv[1])
    SAMPLE = sorted(glob.glob(os.path.join(SAMPLES, "*.pcap*")))[0]
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
