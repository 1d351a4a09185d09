#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# From a fresh checkout to a first report: installs what is missing, builds, analyzes a sample.
# usage: packaging/quickstart.sh [CAPTURE...]     (default: a sample with lost packets)
set -euo pipefail
if [ $# -eq 0 ]; then
  captures=("$(dirname "$0")/../samples/loss_write_vlan.pcap")
else
  captures=("$@")
fi
top=$(cd "$(dirname "$0")/.." && pwd)

"$top/packaging/setup.sh" build
(
  cd "$top"
  cmake --preset release
  cmake --build --preset release --target rocetrace
) > /dev/null
printf 'Built %s\n\n' "$top/build/release/rocetrace" >&2
exec "$top/build/release/rocetrace" analyze "${captures[@]}"
