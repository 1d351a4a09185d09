# SPDX-License-Identifier: GPL-2.0-or-later
"""The tables of the plugin's README, made from what the plugin registers.

usage: readme.py            checks that they are up to date
       readme.py --update   writes them
"""

import os
import re
import sys
import unittest

import wireshark

DISSECTOR = os.path.join(os.path.dirname(os.path.dirname(wireshark.HERE)), "dissector")
README = os.path.join(DISSECTOR, "README.md")

# What -z and the menus call a statistic, and what it shows.
STATISTICS = {
    "roce,tree": ("Statistics, RoCE, Opcodes", "packets by opcode"),
    "roce,qp": ("Statistics, RoCE Queue Pairs", "one row per half-flow, with the columns of the text report"),
    "roce,srt": ("Statistics, Service Response Time, RoCE", "how long messages take, by verb"),
    "conv,roce": ("Statistics, Conversations", "host and QP with host and QP"),
    "endpoints,roce": ("Statistics, Endpoints", "each host and QP"),
    "flow,roce": ("Statistics, Flow Graph, RoCE flows", "an arrow for each packet; add `,standard`"),
    "follow,roce": ("Analyze, Follow, RoCE Stream",
                    "the payload of a connection in PSN order, everything once; add `,ascii,N` for `roce.stream` N"),
}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def statistics():
    out, errors = wireshark.run(["-z", "help"], check=False)
    known = sorted(line.strip() for line in (out + errors).splitlines() if re.search(r"\broce\b", line))
    return table(["tshark -z", "menu", "shows"],
                 [[f"`{name}`", *STATISTICS[name]] for name in known])


def preferences():
    out, _ = wireshark.run(["-G", "defaultprefs"])
    found = re.findall(r"((?:^# .*\n)+)^#(roce\.\w+): (\w+)", out, re.M)
    rows = []
    for comment, name, default in found:
        words = " ".join(line[2:].strip() for line in comment.splitlines())
        words = re.sub(r"(?i) *true or false.*", "", words)
        rows.append([f"`{name}`", default, words])
    return table(["preference", "default", "meaning"], rows)


def expert_rows():
    """abbreviation -> (severity, summary)"""
    with open(os.path.join(DISSECTOR, "field_rows.hpp"), encoding="utf-8") as file:
        source = file.read()
    rows = re.findall(r'\{Expert::\w+, *"([\w.]+)", *PI_\w+, *PI_(\w+), *"([^"]*)"\}', source)
    return {name: (severity.lower(), summary) for name, severity, summary in rows}


def experts():
    return table(["filter", "severity", "says"],
                 [[f"`{name}`", severity, summary]
                  for name, (severity, summary) in expert_rows().items()])


def fields():
    out, _ = wireshark.run(["-G", "fields"])
    rows, seen = [], set()
    for line in out.splitlines():
        kind, name, abbrev, kind_of_value, *rest = (line + "\t\t\t").split("\t")
        if kind != "F" or not abbrev.startswith("roce.") or abbrev in expert_rows():
            continue
        if abbrev in seen:  # a field of several messages
            continue
        seen.add(abbrev)
        description = rest[3] if len(rest) > 3 else ""
        rows.append([f"`{abbrev}`", kind_of_value[3:].lower(), name, description])
    return table(["field", "type", "name", "meaning"], rows)


SECTIONS = {"statistics": statistics, "preferences": preferences, "fields": fields,
            "experts": experts}


def renewed(text):
    for name, made in SECTIONS.items():
        text = re.sub(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)",
                      lambda match, made=made: match[1] + made() + "\n" + match[2], text,
                      flags=re.S)
    return text


def read():
    with open(README, encoding="utf-8") as file:
        return file.read()


class Readme(unittest.TestCase):
    def test_is_up_to_date(self):
        text = read()
        self.assertEqual(text, renewed(text), "run readme.py --update")

    def test_every_statistic_is_described(self):
        for name in STATISTICS:
            self.assertIn(f"`{name}`", read())

    def test_every_own_field_has_a_description(self):
        for line in fields().splitlines()[2:]:
            if "`roce.analysis." in line or "`roce.stream" in line:
                self.assertNotRegex(line, r"\|  \|$")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        new = renewed(read())
        with open(README, "w", encoding="utf-8") as file:
            file.write(new)
    else:
        wireshark.main()
