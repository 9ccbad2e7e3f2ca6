#!/bin/sh
# Installs what is missing, builds the release preset and runs every test. The last line is
# "N passed, N failed, N skipped": test cases, not test programs. Exit 1 if anything failed.
# Environment: TRACEDB_WERROR=ON makes compiler warnings errors; TRACEDB_UNITY=OFF compiles each file by itself, which
# takes longer once, but less after a change; TRACEDB_TRACES names the folder of real traces.
set -eu
cd "$(dirname "$0")/.."
jobs=$(nproc)

give_up() {
  echo "$1" >&2
  echo "0 passed, 1 failed, 0 skipped"
  exit 1
}

tools/install_dependencies.sh || give_up "the packages could not be installed"
cmake --preset release "-DTRACEDB_WERROR=${TRACEDB_WERROR:-OFF}" "-DTRACEDB_UNITY=${TRACEDB_UNITY:-ON}" || give_up "configuring failed"
cmake --build --preset release -j "$jobs" || give_up "the build failed"

results=build/release/test_results.xml
rm -f "$results"
# One more test than processors: some wait, for a time stamp to age or a disk. A failed test is counted from the results
# file, so its exit status is not needed here.
ctest --preset release -j "$((jobs + 1))" --no-tests=error --output-junit "$PWD/$results" \
  --test-output-size-passed 4000000 --test-output-size-failed 4000000 || true
[ -s "$results" ] || give_up "no test ran"
exec python3 -I tests/support/count_cases.py "$results"
