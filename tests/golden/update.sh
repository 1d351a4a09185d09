#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Rewrites golden files; read the difference like code before you commit it.
# usage: tests/golden/update.sh NAME...   with names of TESTLIST; the program is build/dev's, or $ROCETRACE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || { sed -n '3,4s/^# //p' "$0" >&2; exit 2; }
python3 "$here/run.py" "${ROCETRACE:-$here/../../build/dev/rocetrace}" --update "$@"
git -C "$here" --no-pager diff --stat -- expected
