#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy over the files of a built tree that git knows. Fails on any complaint.
# usage: packaging/tidy.sh BUILD [PATHSPEC...]     (default: analyzer and dissector)
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { echo "usage: packaging/tidy.sh BUILD [PATHSPEC...]" >&2; exit 2; }
build=$1
shift
[ $# -gt 0 ] || set -- 'analyzer/*.cpp' 'dissector/*.cpp'
# What it counts in headers of others is noise.
git ls-files -z "$@" | xargs -0 -r -n 1 -P "$(nproc)" clang-tidy --quiet -p "$build" 2> >(grep -v 'warnings generated' >&2)
