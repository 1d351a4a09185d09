#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Installs the Debian and Ubuntu packages that rocetrace needs; what is there already is left alone.
# usage: packaging/setup.sh [build] [test] [plugin] [browser]     (default: build)
set -euo pipefail

build=(g++ cmake ninja-build pkg-config libfmt-dev libcli11-dev libpcap-dev libisal-dev libzstd-dev
       liblz4-dev libsqlite3-dev rapidjson-dev libjs-dygraphs)
# The formatting is that of clang-format 14; later versions disagree in places.
test=(git ccache clang clang-format-14 clang-tidy libclang-rt-dev libgtest-dev libgmock-dev
      nlohmann-json3-dev python3 python3-scapy tshark wireshark-common sqlite3 zstd lz4 gzip)
plugin=(wireshark-dev libwireshark-dev libwiretap-dev libglib2.0-dev tshark)
# For the test of the HTML report. Node.js is often there from elsewhere.
browser=(chromium)
command -v node > /dev/null || browser+=(nodejs)
command -v npm > /dev/null || browser+=(npm)

wanted=()
for set in "${@:-build}"; do
  case $set in
    build) wanted+=("${build[@]}") ;;
    test) wanted+=("${build[@]}" "${test[@]}") ;;
    plugin) wanted+=("${build[@]}" "${plugin[@]}") ;;
    browser) wanted+=("${browser[@]}") ;;
    *) echo "usage: packaging/setup.sh [build] [test] [plugin] [browser]" >&2; exit 2 ;;
  esac
done

if ! command -v apt-get > /dev/null; then
  echo "packaging/setup.sh knows Debian and Ubuntu only. Install what these packages hold, then go on:" >&2
  echo "  ${wanted[*]}" >&2
  exit 2
fi

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
install_missing() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  # wireshark-common asks whether others than root may capture: the default, no, will do.
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
  "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}"
}
if [ ${#missing[@]} -gt 0 ]; then
  echo "Installing ${missing[*]}" >&2
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  install_missing < /dev/null > "$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi

# What drives the browser is no package of the system's.
case " $* " in
  *" browser "*)
    tests=$(dirname "$0")/../tests/browser
    [ -d "$tests/node_modules/playwright-core" ] || npm ci --prefix "$tests" --no-audit --no-fund --silent ;;
esac
