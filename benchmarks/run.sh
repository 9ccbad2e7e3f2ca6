#!/bin/sh
# Builds the release preset and runs the benchmarks: benchmarks/run.sh --help. Files it makes go to
# ${TMPDIR:-/tmp}/tracedb-bench and are kept for the next run.
set -eu
cd "$(dirname "$0")/.."
case " $* " in
  *" --help "* | *" -h "*) exec python3 -I benchmarks/workloads.py --help ;;
esac
cmake --preset release >&2
cmake --build --preset release -j "$(nproc)" --target trace-ingest trace-query make-trace tracedb-floor tracedb-open >&2
exec python3 -I benchmarks/workloads.py "$@"
