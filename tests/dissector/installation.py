# SPDX-License-Identifier: GPL-2.0-or-later
"""What is installed lies where Wireshark looks for it."""

import os
import re
import subprocess
import tempfile
import unittest

import wireshark

BUILD = os.environ.get("ROCETRACE_BUILD", "")
CMAKE = os.environ.get("ROCETRACE_CMAKE", "cmake")


def default_prefix():
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        return "\nCMAKE_INSTALL_PREFIX:PATH=/usr/local\n" in file.read()


class Installation(unittest.TestCase):
    def test_goes_to_the_folders_of_wireshark(self):
        if not default_prefix():
            self.skipTest("this build goes to a prefix of its own")
        # As root tshark tells its own folders, whatever the environment says.
        told = subprocess.run(["tshark", "-G", "folders"], capture_output=True, text=True,
                              check=True).stdout
        folders = dict(re.findall(r"^(Global \w+):\s+(/\S+)", told, re.M))
        with tempfile.TemporaryDirectory() as stage:
            subprocess.run([CMAKE, "--install", BUILD, "--component", "plugin"], check=True,
                           capture_output=True, env={**os.environ, "DESTDIR": stage})
            plugin = os.path.join(folders["Global Plugins"], "epan", "roce.so")
            profile = os.path.join(folders["Global configuration"], "profiles", "RoCE")
            self.assertTrue(os.path.isfile(stage + plugin), plugin)
            for name in ("preferences", "colorfilters", "dfilter_buttons"):
                self.assertTrue(os.path.isfile(os.path.join(stage + profile, name)), name)


if __name__ == "__main__":
    wireshark.main()
