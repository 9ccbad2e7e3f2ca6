#!/bin/sh
# Tests tools/fleet on real servers of Debian's packages, on the loopback interface: Slurm with three nodes, ClickHouse
# with two servers. About a minute, at most three. Needs root, for the packages and for slurmd. What cannot run here is
# no failure: it is skipped, and a line says why.
#
# TRACEDB_LIBCHDB=.../libchdb.so (npm install @chdb/lib-linux-x64-gnu) also asks a current ClickHouse.
set -eu
cd "$(dirname "$0")/../.."
packages="munge slurmctld slurmd slurm-client clickhouse-server"

skip() {
  echo "SKIPPED tools/fleet/check.sh: $1"
  exit 0
}

installed() {
  # shellcheck disable=SC2086
  [ "$(dpkg-query -W -f='${Status}\n' $packages 2>/dev/null | grep -c '^install ok installed$')" -eq "$(echo "$packages" | wc -w)" ]
}

# Only this waits for a mirror, and may be cut off: what is unpacked is not.
download() {
  limit=$1
  shift
  timeout "$limit" apt-get -qq -o Acquire::Retries=0 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10 "$@" \
    >/dev/null 2>&1
}

[ "$(id -u)" -eq 0 ] || skip "slurmd needs root"
if ! installed; then
  command -v apt-get >/dev/null 2>&1 || skip "no apt-get here; it needs $packages"
  [ ! -d /run/systemd/system ] || skip "installing would start services on this machine; to run it, install $packages"
  # shellcheck disable=SC2086
  download 15 install -y --download-only --no-install-recommends $packages ||
    { download 20 update && download 30 install -y --download-only --no-install-recommends $packages; } ||
    skip "not installed, and no mirror gives them: $packages"
  # shellcheck disable=SC2086
  tools/install_dependencies.sh $packages || skip "the packages could not be installed: $packages"
fi
if [ ! -e build/release/CTestTestfile.cmake ]; then
  tools/install_dependencies.sh
  cmake --preset release
fi
cmake --build --preset release --target programs
# A test that is interrupted ends its servers, which takes it some seconds.
limit=100
code=0
TRACEDB_FLEET=1 timeout --signal=INT --kill-after=40 "$limit" \
  ctest --preset release -L fleet --no-tests=error --verbose || code=$?
[ "$code" -ne 124 ] || skip "not done within $limit s"
exit "$code"
