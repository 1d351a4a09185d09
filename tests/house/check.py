#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""House rules that no compiler knows: who may include whom, licences, words, names.

usage: check.py RULE...   with RULE one of those in RULES below, or none for all
Exit code 1 when a rule is broken; one line per place. Files over 400 lines are only mentioned.
"""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Which part of the program a file belongs to: the first pattern that matches.
PARTS = [
    ("core.wire", r"include/roce/wire/"),
    ("core.opcode", r"include/roce/(opcode|syndrome|psn)\.hpp"),
    ("core.packet", r"include/roce/packet\.hpp"),
    ("core.cm", r"include/roce/cm_message\.hpp"),
    ("core.observation", r"include/roce/flow/observation\.hpp"),
    ("core.flow", r"include/roce/flow/"),
    ("core.icrc", r"include/roce/icrc\.hpp"),
    ("core.observe", r"include/roce/net/observe\.hpp"),
    ("core.net", r"include/roce/net/"),
    ("core.all", r"include/roce/roce\.hpp"),
    ("capture", r"analyzer/capture/"),
    ("findings", r"analyzer/findings/"),
    ("report.model", r"analyzer/report/(report|row_values|surrounding_rows|table|packet_row|severity)\.hpp"),
    ("report.human", r"analyzer/report/human\."),
    ("report.moment", r"analyzer/report/moment\.hpp"),
    ("report.progress", r"analyzer/report/progress\.hpp"),
    ("report", r"analyzer/report/"),
    ("options.model", r"analyzer/(options\.hpp|instant\.[ch]pp)"),
    ("options", r"analyzer/options\.cpp"),
    ("listing", r"analyzer/listing\.[ch]pp"),  # the pipeline of `packets`: writes as it goes
    ("main", r"analyzer/main\.cpp"),
    ("icrc", r"analyzer/icrc_isal\.[ch]pp"),
    ("analyze", r"analyzer/\w+\.[ch]pp"),
    ("dissector", r"dissector/"),
    ("tests", r"(tests|samples)/"),
]

# The arrows: a part may include itself and what stands here. `core` means every core.* part.
MAY_INCLUDE = {
    "core.wire": [],
    "core.opcode": ["core.wire"],
    "core.packet": ["core.opcode", "core.wire"],
    "core.cm": ["core.packet", "core.net", "core.opcode", "core.wire"],
    "core.observation": ["core.wire"],
    "core.flow": ["core.observation", "core.cm", "core.packet", "core.opcode", "core.wire"],
    "core.net": ["core.wire"],
    "core.icrc": ["core.net", "core.opcode", "core.wire"],
    "core.observe": ["core.net", "core.icrc", "core.observation", "core.packet", "core.opcode", "core.wire"],
    "core.all": ["core"],
    "capture": ["core"],
    "findings": ["report.human", "core"],
    "report.model": ["findings", "core"],
    "report.human": ["core"],
    "report.progress": ["core"],
    "report.moment": ["report.model", "findings", "capture", "core"],
    "report": ["report.model", "report.moment", "report.human", "report.progress", "findings", "capture", "core"],
    "options.model": ["core"],
    "options": ["options.model", "report", "report.model", "core"],
    "analyze": ["capture", "findings", "report.model", "report.moment", "report.progress", "options.model", "icrc", "core"],
    "listing": ["analyze", "capture", "report", "report.model", "report.progress", "options.model", "core"],
    "main": ["options.model", "analyze", "listing", "report", "report.model", "report.moment", "report.progress"],
    "icrc": ["core"],
    "dissector": ["core"],
    "tests": ["core", "capture", "findings", "report.model", "report.moment", "report.human", "report.progress", "report", "options.model",
              "analyze", "listing", "icrc"],
}

# Libraries, and the only files that know them.
LIBRARIES = [
    (r"pcap(\.h|/)", r"analyzer/capture/"),
    (r"CLI/", r"analyzer/options\.cpp"),
    (r"sqlite3\.h", r"analyzer/report/sqlite\.cpp"),
    (r"(epan|wiretap|wsutil|wireshark|ui|ftypes)/|ws_version\.h|glib", r"dissector/"),
    (r"isa-l(\.h|/)", r"analyzer/(capture/|icrc_isal\.)|tests/"),
    (r"(zstd|lz4frame)\.h", r"analyzer/capture/|tests/"),
    (r"rapidjson/", r"analyzer/(report/|findings/counter_dump\.)"),
    (r"nlohmann/|gtest/|gmock/", r"tests/"),
    (r"fmt/", r"analyzer/|tests/"),
]

# Words that date a text, or tie it to one machine.
WORDS = [
    (r"(?<![\w.}>$)*-])/(home|mnt|root|tmp|work)/\w", "a path of one machine"),
    (r"\b(TODO|FIXME|XXX)\b", "unfinished business"),
    (r"(?i)\b(issue|fixes|closes|ticket)\s+#?\d+\b", "a tracker's number: say it in words"),
    (r"NOLINT", "a silenced check: drop the check instead"),
]

BANNED_ENDINGS = r"(?:Manager|Handler|Helpers?|Utils?|Data)"
TEXT = (".cpp", ".hpp", ".py", ".sh", ".md", ".txt", ".cmake", ".json", ".sql", ".html", ".css", ".js", ".yml", "/run")
CODE = (".cpp", ".hpp")
SCRIPTS = (".py", ".sh", "/run")


def tracked_files():
    """Every file of the project, as git knows it, or what lies there when git does not."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        names = listed.stdout.split("\0")
    else:
        names = [os.path.relpath(os.path.join(folder, name), ROOT)
                 for folder, _, files in os.walk(ROOT) for name in files]
        names = [name for name in names if not re.match(r"(build|\.git)", name)]
    return sorted(name for name in names if name and os.path.isfile(os.path.join(ROOT, name)))


def lines_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def part_of(name):
    return next((part for part, pattern in PARTS if re.match(pattern, name)), None)


def resolve(name, included):
    """The project's file that `#include "included"` in `name` means, or None."""
    for folder in (os.path.dirname(name), "include", "analyzer", "tests", "dissector"):
        path = os.path.normpath(os.path.join(folder, included))
        if os.path.isfile(os.path.join(ROOT, path)):
            return path
    return None


def include_lines(name):
    for number, line in enumerate(lines_of(name), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            yield number, match[1] == '"', match[2]


def broken_arrow(name, quoted, included):
    """Why this file may not include that, or None."""
    part = part_of(name)
    for pattern, allowed in LIBRARIES:
        if re.match(pattern, included) and not resolve(name, included):
            return None if re.match(allowed, name) else f"{included} belongs to {allowed} only"
    target = resolve(name, included) if quoted else None
    if target is None:
        if part and part.startswith("core.") and (quoted or not re.fullmatch(r"[a-z_]+", included)):
            return f"{included} is not of the standard library"
        return f"{included} is not there" if quoted and part != "dissector" else None
    other = part_of(target)
    if other is None:
        return f"{target} belongs to no part of the program"
    allowed = MAY_INCLUDE.get(part, [])
    if part == other or other in allowed or (other.startswith("core.") and "core" in allowed):
        return None
    return f"{part} may not include {other} ({target})"


def arrows(files):
    for name in files:
        if name.endswith(CODE) and part_of(name):
            for number, quoted, included in include_lines(name):
                reason = broken_arrow(name, quoted, included)
                if reason:
                    yield f"{name}:{number}: {reason}"


def licences(files):
    for name in files:
        if not name.endswith(CODE + SCRIPTS):
            continue
        wanted = "GPL-2.0-or-later" if name.startswith(("dissector/", "tests/dissector/")) else "BSD-3-Clause"
        head = "\n".join(lines_of(name)[:2])
        if f"SPDX-License-Identifier: {wanted}" not in head:
            yield f"{name}:1: no SPDX line for {wanted}"


def words(files):
    for name in files:
        if not name.endswith(TEXT) or name.startswith("tests/house/check") or "/corpus/" in name:
            continue
        for number, line in enumerate(lines_of(name), 1):
            for pattern, reason in WORDS:
                match = re.search(pattern, line)
                if match and not (reason.startswith("a silenced") and not name.endswith(CODE)):
                    yield f"{name}:{number}: {match[0]}: {reason}"


def names(files):
    for name in files:
        if not name.endswith(CODE):
            continue
        for number, line in enumerate(lines_of(name), 1):
            match = re.match(rf"\s*(?:class|struct|enum class|using)\s+(\w+{BANNED_ENDINGS})\b", line)
            if match:
                yield f"{name}:{number}: {match[1]}: such a name says nothing"
        if name.endswith(".hpp") and "#pragma once" not in lines_of(name):
            yield f"{name}:1: no #pragma once"


def sizes(files):
    for name in files:
        if name.endswith(CODE + SCRIPTS) and len(lines_of(name)) > 400:
            print(f"{name}: {len(lines_of(name))} lines: can it be two files?")
    return []


RULES = {"arrows": arrows, "licences": licences, "words": words, "names": names, "sizes": sizes}


def main():
    wanted = sys.argv[1:] or list(RULES)
    files = tracked_files()
    broken = [line for rule in wanted for line in RULES[rule](files)]
    print("\n".join(broken) if broken else f"{', '.join(wanted)}: {len(files)} files, no complaint")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
