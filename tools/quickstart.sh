#!/bin/sh
# From nothing to a first answer: installs packages, builds the programs, makes a synthetic pair of traces (or takes the
# traces named as arguments), indexes them, and compares two or shows what is inside one.
set -eu

script=$(readlink -f "$0")
root=$(dirname "$(dirname "$script")")
bin=$root/build/release/bin
log=$root/build/quickstart.log

usage() {
  cat <<'END'
usage: tools/quickstart.sh                          synthetic MI300X and H100 traces
       tools/quickstart.sh BASELINE [CANDIDATE]...  your own traces: PyTorch/Kineto JSON, plain, .gz or .zst
END
}

# Before anything is installed or built: a mistyped name should not cost minutes.
check_arguments() {
  for argument in "$@"; do
    case $argument in
      -h | --help)
        usage
        exit 0
        ;;
      -*) refuse 2 "unknown option $argument" ;;
    esac
    [ -e "$argument" ] || refuse 3 "$argument: no such file"
    [ ! -d "$argument" ] ||
      refuse 3 "$argument: is a folder; name a trace in it, or run 'trace-ingest $argument' once the programs are built"
    [ -r "$argument" ] || refuse 3 "$argument: permission denied"
    [ ! -f "$argument" ] || [ -s "$argument" ] || refuse 3 "$argument: is empty"
  done
}

refuse() {
  echo "quickstart: $2" >&2
  [ "$1" -ne 2 ] || usage >&2
  exit "$1"
}

# The output of the build on standard input: ninja's "[39/240] Building ..." as one line that is redrawn on a terminal,
# else as about ten lines in all. Everything is in the log.
show_progress() {
  shown=-1
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    count=${line%%]*}
    count=${count#\[}
    done=${count%/*}
    total=${count#*/}
    case $line in
      \[[0-9]*/[0-9]*\]*) ;;
      *) continue ;;
    esac
    if [ -t 2 ]; then
      printf '\r[%s] %-60.60s' "$count" "${line##*/}" >&2
    elif [ $((done * 10 / total)) -ne "$shown" ]; then
      shown=$((done * 10 / total))
      printf '[%s]\n' "$count" >&2
    fi
  done
  [ ! -t 2 ] || printf '\r%-76s\r' '' >&2
}

# A folder that is configured already, perhaps with tests, stays as it is. Fails with the end of the log shown.
build() {
  rm -f "$log" "$log.ok"
  {
    cd "$root"
    [ -e build/release/build.ninja ] || cmake --preset programs
    cmake --build build/release -j "$(nproc)" --target programs && touch "$log.ok"
  } 2>&1 | show_progress
  if [ ! -e "$log.ok" ]; then
    tail -n 40 "$log" >&2
    refuse 1 "the build failed; the whole log is $log"
  fi
  rm -f "$log.ok"
}

# Shown without the folder of the programs: this is what a user with them on PATH types.
show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

check_arguments "$@"
"$root/tools/install_dependencies.sh" --programs
mkdir -p "$root/build"
echo "Building the programs; log: $log" >&2
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
if [ $# -ge 2 ]; then
  show trace-query compare "$1" "$2"
  more="trace-query ops $1          # kernel time by operation; phases, layers, kernels, stacks
  trace-query timeline $1     # busy, idle and why; gaps says where the host was"
else
  show trace-query info "$1"
  show trace-query ops --limit 10 "$1"
  show trace-query phases "$1"
  show trace-query timeline "$1"
  more="trace-query gaps $1         # why the device idles, and where the host was
  trace-query layers $1       # kernel time by layer; stacks: by your own code
  trace-query compare $1 OTHER   # why another trace is faster or slower"
fi
cat <<END

Where to go next:
  export PATH=$bin:\$PATH
  cd $PWD
  $more
  trace-query sql $1          # a shell for SQL
  trace-query --help          # every command; README.md answers six questions with them
  cmake --install $root/build/release   # programs, manual pages and completion
END
