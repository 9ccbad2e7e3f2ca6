#!/bin/sh
# From nothing to a first answer: installs packages, builds, makes a synthetic pair of traces (or takes the traces
# named as arguments), indexes them and shows what is inside.
#
#   tools/quickstart.sh                          synthetic MI300X and H100 traces
#   tools/quickstart.sh BASELINE [CANDIDATE]...  your own traces
set -eu

script=$(readlink -f "$0")
root=$(dirname "$(dirname "$script")")
bin=$root/build/release/bin
log=$root/build/quickstart.log

build() {
  mkdir -p "$root/build"
  echo "Building (log: $log) ..." >&2
  if ! (cd "$root" && cmake --preset release &&
    cmake --build --preset release -j "$(nproc)" --target trace-ingest trace-query make-trace) >"$log" 2>&1; then
    cat "$log" >&2
    echo "quickstart: the build failed" >&2
    exit 1
  fi
}

# Shown without the folder of the programs: this is what a user with them on PATH types.
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

"$root/tools/install_dependencies.sh"
build
PATH=$bin:$PATH

if [ $# -eq 0 ]; then
  pair=$root/build/quickstart
  mkdir -p "$pair"
  cd "$pair"
  show make-trace --vendor amd --output mi300x.json
  show make-trace --vendor nvidia --output h100.json
  set -- mi300x.json h100.json
fi

show trace-ingest "$@"
for trace in "$@"; do
  show trace-query info "$trace"
  show trace-query kernels --limit 10 "$trace"
done
if [ $# -ge 2 ] && trace-query compare --help >/dev/null 2>&1; then
  show trace-query compare "$1" "$2"
fi
printf '\nThe programs are in %s; the README has more questions to ask.\n' "$bin"
