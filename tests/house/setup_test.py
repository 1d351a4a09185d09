#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""packaging/setup.sh against a package manager that only pretends.

usage: setup_test.py
"""

import os
import subprocess
import tempfile
import unittest

SETUP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../packaging/setup.sh")


class Setup(unittest.TestCase):
    def run_with(self, installed, apt_get):
        with tempfile.TemporaryDirectory() as folder:
            commands = {"dpkg-query": f"echo -n {installed}", "apt-get": f'echo "$@" >> {folder}/asked; {apt_get}',
                        "sudo": 'exec "$@"'}
            for name, body in commands.items():
                with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                    file.write(f"#!/bin/sh\n{body}\n")
                os.chmod(file.name, 0o755)
            # A log that is left behind would be seen here.
            os.mkdir(os.path.join(folder, "tmp"))
            done = subprocess.run(["bash", SETUP, "build", "test", "plugin"], capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, check=False,
                                  env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}",
                                                    "TMPDIR": os.path.join(folder, "tmp")})
            self.assertEqual(os.listdir(os.path.join(folder, "tmp")), [])
            asked = os.path.join(folder, "asked")
            if not os.path.exists(asked):
                return done, ""
            with open(asked, encoding="ascii") as file:
                return done, file.read()

    def test_nothing_is_asked_when_nothing_is_missing(self):
        done, asked = self.run_with("installed", "exit 1")
        self.assertEqual((done.returncode, done.stderr, asked), (0, "", ""))

    def test_missing_packages_are_installed(self):
        done, asked = self.run_with("not-installed", "echo much that nobody reads")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("libisal-dev", asked)
        self.assertIn("update", asked.splitlines()[0])

    def test_failing_installation_says_why(self):
        done, _ = self.run_with("not-installed", "echo no such package; exit 100")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no such package", done.stderr)


if __name__ == "__main__":
    unittest.main()
