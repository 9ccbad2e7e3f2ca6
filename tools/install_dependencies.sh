#!/bin/sh
# Installs the Debian 12 packages that building and testing tracedb needs: only those that are missing, quietly.
# Runs as root or through sudo.
#
#   tools/install_dependencies.sh               everything, tests included
#   tools/install_dependencies.sh --programs    what the programs alone need
#   tools/install_dependencies.sh PACKAGE...    these instead
set -eu

required="g++ cmake ninja-build pkg-config libsqlite3-dev libsimdjson-dev libxxhash-dev libboost-program-options-dev
  libfmt-dev libre2-dev libyaml-cpp-dev libprotozero-dev zlib1g-dev libzstd-dev node-d3"  # node-d3: draws the pictures of reports
for_tests="doctest-dev python3 sqlite3"
# Faster gzip, where zlib does the work otherwise; the shell of trace-query sql.
optional="libisal-dev sqlite3"

installed() {
  dpkg-query -W -f='${Status}\n' "$1" 2>/dev/null | grep -q '^install ok installed$'
}

available() {
  apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [^(]'
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null 2>&1; then
    sudo "$@"
  else
    echo "install_dependencies: packages are missing ($missing); run this as root, or install sudo" >&2
    exit 1
  fi
}

apt() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >"$log" 2>&1
}

if ! command -v apt-get >/dev/null 2>&1; then
  echo "install_dependencies: no apt-get here; install these packages of Debian 12 or their like: $required $optional" >&2
  exit 1
fi
case "${1-}" in
  "")
    required="$required $for_tests"
    optional="$optional valgrind chromium chromium-driver"  # count instructions in a test; open the report page
    ;;
  --programs) ;;
  -*)
    echo "install_dependencies: unknown option $1; usage: install_dependencies.sh [--programs | PACKAGE...]" >&2
    exit 2
    ;;
  *)
    required="$*"
    optional=""
    ;;
esac

missing=""
for package in $required $optional; do
  installed "$package" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

log=$(mktemp)
trap 'rm -f "$log"' EXIT
fail() {
  cat "$log" >&2
  echo "install_dependencies: $1" >&2
  exit 1
}

for package in $missing; do
  if ! available "$package"; then
    apt update || fail "apt-get update failed"
    break
  fi
done
wanted=""
for package in $missing; do
  case " $optional " in
    *" $package "*) available "$package" || continue ;;
  esac
  wanted="$wanted $package"
done
[ -n "$wanted" ] || exit 0
echo "Installing:$wanted" >&2
# Lists that are older than the archive point to packages that are gone: one more try with fresh lists.
# shellcheck disable=SC2086
apt install -y --no-install-recommends $wanted ||
  { apt update && apt install -y --no-install-recommends $wanted; } ||
  fail "apt-get install failed"
