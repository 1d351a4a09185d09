#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Every check of the project, here as on a build machine (.ci/run): installs what is missing, builds, tests.
# It ends with ctest's own summary of the plain build. Takes no arguments and asks nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

fuzz_seconds=60  # shared by all fuzz targets
jobs=$(nproc)

step() { printf '\n== %s (%d s so far)\n' "$1" "$SECONDS"; }

step "packages"
packaging/setup.sh test plugin
packaging/setup.sh browser || echo "The HTML report is not tried in a browser: see above"
if command -v ccache > /dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # What one checkout compiled, the next need not compile again.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
fi

step "format"
git ls-files -z '*.cpp' '*.hpp' | xargs -0 -r clang-format-14 --dry-run -Werror

step "house rules"
python3 -B tests/house/check.py

step "dev build: GCC, warnings are errors"
cmake --preset dev
cmake --build --preset dev -j "$jobs"

step "asan build: Clang, AddressSanitizer and UndefinedBehaviorSanitizer"
cmake --preset asan
cmake --build --preset asan -j "$jobs"

step "clang-tidy"
# The other files take too long for every check: packaging/tidy.sh build/asan looks at all.
packaging/tidy.sh build/asan ':(glob)analyzer/capture/*.cpp'

step "fuzzing"
targets=(build/asan/tests/fuzz/fuzz_*)
for target in "${targets[@]}"; do
  name=${target##*/}
  found=build/asan/found/$name
  mkdir -p "$found"
  "$target" -max_total_time=$((fuzz_seconds / ${#targets[@]})) -timeout=10 -verbosity=0 \
    -artifact_prefix="$found/" "$found" "tests/fuzz/corpus/${name#fuzz_}"
done

step "tests, asan"
ctest --preset asan -j "$jobs"

step "tests, dev"
ctest --preset dev -j "$jobs"
