#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The house rules must bite: each is broken once, in a tree made for it."""

import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import check

SPDX = "// SPDX-License-Identifier: BSD-3-Clause\n"


class HouseRules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(setattr, check, "ROOT", check.ROOT)
        check.ROOT = folder.name

    def complaints(self, rule, **files):
        """What the rule says to files given as path=text, with `__` for `/` and `_dot_` for `.`."""
        names = []
        for name, text in files.items():
            name = name.replace("__", "/").replace("_dot_", ".")
            path = os.path.join(check.ROOT, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            names.append(name)
        return list(rule(names))

    def test_the_core_includes_the_standard_library_and_itself(self):
        self.assertEqual([], self.complaints(
            check.arrows, include__roce__wire__bytes_dot_hpp="#include <span>\n",
            include__roce__opcode_dot_hpp='#include "roce/wire/bytes.hpp"\n'))

    def test_the_core_includes_no_library(self):
        self.assertTrue(self.complaints(check.arrows, include__roce__icrc_dot_hpp="#include <isa-l.h>\n"))

    def test_an_arrow_does_not_turn_round(self):
        self.assertTrue(self.complaints(
            check.arrows, include__roce__packet_dot_hpp="",
            include__roce__wire__grh_dot_hpp='#include "roce/packet.hpp"\n'))

    def test_the_capture_layer_knows_no_report(self):
        self.assertTrue(self.complaints(
            check.arrows, analyzer__report__json_dot_hpp="",
            analyzer__capture__capture_dot_cpp='#include "report/json.hpp"\n'))

    def test_libpcap_stays_in_the_capture_layer(self):
        self.assertEqual([], self.complaints(check.arrows, analyzer__capture__filter_dot_cpp="#include <pcap.h>\n"))
        self.assertTrue(self.complaints(check.arrows, analyzer__analyze_dot_cpp="#include <pcap/pcap.h>\n"))

    def test_only_options_know_the_command_line_library(self):
        self.assertTrue(self.complaints(check.arrows, analyzer__main_dot_cpp="#include <CLI/CLI.hpp>\n"))

    def test_a_file_says_its_licence(self):
        self.assertEqual([], self.complaints(check.licences, analyzer__a_dot_cpp=SPDX))
        self.assertTrue(self.complaints(check.licences, analyzer__a_dot_cpp="// nothing\n"))
        self.assertTrue(self.complaints(check.licences, dissector__a_dot_cpp=SPDX))

    def test_a_text_stands_without_the_machine_it_was_written_on(self):
        for text in ("see /home" + "/me/x", "TO" + "DO: later", "Fixes " + "#12"):
            self.assertTrue(self.complaints(check.words, README_dot_md=text), text)
        self.assertEqual([], self.complaints(check.words, README_dot_md="mktemp, build/tmp/x, $TMP/work/x"))

    def test_names_say_something(self):
        self.assertTrue(self.complaints(check.names, analyzer__a_dot_cpp="class FlowManager {\n"))
        self.assertTrue(self.complaints(check.names, analyzer__a_dot_hpp=SPDX))


if __name__ == "__main__":
    unittest.main()
