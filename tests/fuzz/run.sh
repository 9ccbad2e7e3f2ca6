#!/bin/sh
# Looks for new findings, one target after the other: run.sh BUILD_FOLDER SECONDS [TARGET...]
# What the fuzzers learn stays in BUILD_FOLDER/corpus, their output in BUILD_FOLDER/fuzz-NAME.log. Exit 1: findings.
set -eu
build=$1
seconds=$2
shift 2
folder=$(dirname "$0")
[ $# -gt 0 ] || set -- cutter decimal events inflate ingest index tables
python3 -I "$folder/make_seeds.py" "$build/seeds"
mkdir -p "$build/findings"
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # small files by the thousand: in memory

status=0
for target; do
  mkdir -p "$build/corpus/$target"
  set -- "$build/corpus/$target" "$build/seeds/$target"
  [ ! -d "$folder/regressions/$target" ] || set -- "$@" "$folder/regressions/$target"
  dictionary="$folder/json.dict"
  [ "$target" != index ] || dictionary="$folder/sql.dict"
  largest=4096
  [ "$target" != tables ] || largest=65536 # a database has a page for each table
  echo "$target for $seconds s"
  "$build/bin/fuzz-$target" "-max_total_time=$seconds" -timeout=60 -rss_limit_mb=4096 -print_final_stats=1 \
    "-max_len=$largest" "-dict=$dictionary" "-artifact_prefix=$build/findings/$target-" "$@" \
    >"$build/fuzz-$target.log" 2>&1 || {
    echo "$target: a finding, see $build/fuzz-$target.log"
    status=1
  }
done
exit $status
