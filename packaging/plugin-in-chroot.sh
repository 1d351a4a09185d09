#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Wireshark plugin against the Wireshark of another Debian release, and tests it there.
# usage: packaging/plugin-in-chroot.sh RELEASE FOLDER
# For example `trixie` (Wireshark 4.4). Needs root and debootstrap. FOLDER is made on the first run,
# takes some 1.5 GB, and is used again on the next.
set -euo pipefail

[ $# = 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
release=$1 root=$2
source=$(cd "$(dirname "$0")/.." && pwd)
# What the tests of the plugin need beside what setup.sh installs.
packages=(python3 libgtest-dev libgmock-dev nlohmann-json3-dev)

if [ ! -e "$root/etc/debian_version" ]; then
  debootstrap --variant=minbase "$release" "$root"
fi
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
             DEBIAN_FRONTEND=noninteractive "$@"; }
# What is committed, and what lies beside the work tree for the tests.
rm -rf "$root/rocetrace/main"
mkdir -p "$root/rocetrace/main" "$root/rocetrace/shared"
git -C "$source" archive HEAD | tar -C "$root/rocetrace/main" -xf -
if [ -d "$source/../shared/captures" ]; then
  tar -C "$source/../shared" -cf - captures | tar -C "$root/rocetrace/shared" -xf -
fi

inside apt-get -qq update
inside apt-get -qq install -y --no-install-recommends "${packages[@]}"
inside /rocetrace/main/packaging/setup.sh build plugin

inside cmake -S /rocetrace/main -B /rocetrace/build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1"
inside cmake --build /rocetrace/build --target rocetrace_plugin rocetrace -j 2
inside tshark --version | head -n 1
inside ctest --test-dir /rocetrace/build -R '^dissector\.' --output-on-failure
