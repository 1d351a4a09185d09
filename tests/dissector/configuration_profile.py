# SPDX-License-Identifier: GPL-2.0-or-later
"""The configuration profile RoCE: its filters are valid, its columns and colours show."""

import csv
import os
import re
import shutil
import unittest

import wireshark

PROFILE = os.path.join(os.path.dirname(os.path.dirname(wireshark.HERE)), "dissector", "profile",
                       "RoCE")
CONGESTED = wireshark.sample("cnp.pcap")


def lines_of(name):
    with open(os.path.join(PROFILE, name), encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if not line.startswith("#")]


def home_with_profile():
    home = wireshark.new_home()
    target = os.path.join(home, ".config", "wireshark", "profiles", "RoCE")
    shutil.copytree(PROFILE, target)
    for where, folders, files in os.walk(home):
        for name in folders + files:
            os.chmod(os.path.join(where, name), 0o755)
            if os.getuid() == 0:
                os.chown(os.path.join(where, name), wireshark.NOBODY, wireshark.NOBODY)
    return home


def with_profile(capture, *arguments):
    return wireshark.run(["-C", "RoCE", "-2", "-r", wireshark.readable(capture), *arguments],
                         home=home_with_profile())


class Profile(unittest.TestCase):
    def test_every_colouring_rule_is_a_filter(self):
        for line in lines_of("colorfilters"):
            _, name, display_filter, colours = line.split("@")
            with self.subTest(name):
                self.assertRegex(colours, r"^\[\d+,\d+,\d+\]\[\d+,\d+,\d+\]$")
                wireshark.run(["-r", wireshark.readable(CONGESTED), "-c", "1", "-Y", display_filter])

    def test_every_button_is_a_filter(self):
        for _, label, display_filter, _ in csv.reader(lines_of("dfilter_buttons")):
            with self.subTest(label):
                display_filter = display_filter.replace("\\x22", '"')
                wireshark.run(["-r", wireshark.readable(CONGESTED), "-c", "1", "-Y", display_filter])

    def test_columns(self):
        out, _ = with_profile(wireshark.sample("loss_atomic.pcap"), "-Y",
                              "roce.analysis.class == \"retransmission\"", "-T", "tabs")
        first = out.splitlines()[0].split("\t")
        self.assertEqual(len(first), 13)  # the arrow between the addresses counts
        self.assertEqual(first[8], "retransmission")
        self.assertIn(first[10], ("upstream", "downstream", "response", "spurious", "ambiguous"))
        self.assertTrue(first[12].startswith("[Retransmission: "))

    def test_a_cnp_and_a_request_have_different_colours(self):
        colours = set()
        for display_filter in ("roce.cnp", "roce.bth.opcode == 0x02"):
            out = wireshark.run_in_terminal(
                ["-C", "RoCE", "-2", "--color", "-r", wireshark.readable(CONGESTED), "-Y",
                 display_filter], home=home_with_profile())
            self.assertRegex(out, r"^\x1b\[")
            colours.add(re.match(r"(\x1b\[[\d;]*m)+", out)[0])
        self.assertEqual(len(colours), 2)


if __name__ == "__main__":
    wireshark.main()
