#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the Wireshark plugin against the Wireshark of another Debian release, and tests it there.
# usage: packaging/plugin-in-chroot.sh RELEASE FOLDER
# For example `trixie` (Wireshark 4.4). Needs root and debootstrap. FOLDER is made on the first run,
# takes some 1.5 GB, and is used again on the next. Nothing stays mounted in it.
set -euo pipefail

[ $# = 2 ] || { sed -n '3,6s/^# //p' "$0" >&2; exit 2; }
release=$1 root=$2
source=$(cd "$(dirname "$0")/.." && pwd)
# What the tests of the plugin need beside what setup.sh installs.
packages=(python3 libgtest-dev libgmock-dev nlohmann-json3-dev)

if [ ! -e "$root/etc/debian_version" ]; then
  debootstrap --variant=minbase "$release" "$root"
fi
# What is committed.
rm -rf "$root/rocetrace/main"
mkdir -p "$root/rocetrace/main" "$root/rocetrace/shared/captures"
git -C "$source" archive HEAD | tar -C "$root/rocetrace/main" -xf -

# The mounts (captures beside the work tree are for the tests) are seen by the command alone, and
# end with it: whatever happens, nobody can delete through them.
inside() {
  unshare --mount --propagation private bash -euc '
    root=$1 captures=$2
    shift 2
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    if [ -d "$captures" ]; then mount --bind -o ro "$captures" "$root/rocetrace/shared/captures"; fi
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
      DEBIAN_FRONTEND=noninteractive "$@"' bash "$root" "$source/../shared/captures" "$@"
}

inside apt-get -qq update
inside apt-get -qq install -y --no-install-recommends "${packages[@]}"
inside /rocetrace/main/packaging/setup.sh build plugin

inside cmake -S /rocetrace/main -B /rocetrace/build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DROCETRACE_WERROR=ON "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1"
inside cmake --build /rocetrace/build --target rocetrace_plugin rocetrace -j 2
inside tshark --version | head -n 1
inside ctest --test-dir /rocetrace/build -R '^dissector\.' --output-on-failure
