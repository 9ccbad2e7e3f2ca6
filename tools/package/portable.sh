#!/bin/sh
# Makes build/portable/package/tracedb-VERSION-linux-x86_64.tar.gz: the programs linked with all they need, glibc
# included, so that they run on any Linux of that architecture; which instructions they use is chosen when they run, and
# tried on the CPUs of qemu-user-static where that is installed. Without what needs a dynamic linker: libduckdb.so
# (Parquet) and the extension of SQLite.
# Debian has no static libraries of simdjson and libisal: those are built from Debian's sources first, in
# build/portable/libraries. For Debian 12; installs what is missing, as root or through sudo.
set -eu
cd "$(dirname "$0")/../.."
libraries=$PWD/build/portable/libraries
jobs=$(nproc)

# apt-get with the sources of the archives that this machine installs from, checked against the same keys.
fetch_source() {
  mkdir -p "$libraries/lists/partial" "$libraries/sources.list.d"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^deb /deb-src /; s/^Types:.*/Types: deb-src/' "$file" >"$libraries/sources.list.d/${file##*/}"
  done
  set -- -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$libraries/sources.list.d" \
    -o "Dir::State::lists=$libraries/lists" -o APT::Sandbox::User=root "$@"
  apt-get "$@"
}

unpack() {
  rm -rf "${libraries:?}/$1"
  dpkg-source --no-check -x "$libraries/$1"_*.dsc "$libraries/$1" >/dev/null
}

build_simdjson() {
  [ ! -e "$libraries/lib/libsimdjson.a" ] || return 0
  unpack simdjson
  cmake -S "$libraries/simdjson" -B "$libraries/simdjson/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DSIMDJSON_DEVELOPER_MODE=OFF "-DCMAKE_INSTALL_PREFIX=$libraries" \
    -DCMAKE_INSTALL_LIBDIR=lib
  cmake --build "$libraries/simdjson/build" -j "$jobs"
  cmake --install "$libraries/simdjson/build"
}

build_libisal() {
  [ ! -e "$libraries/lib/libisal.a" ] || return 0
  unpack libisal
  make -C "$libraries/libisal" -f Makefile.unx -j "$jobs" lib units="igzip crc"
  mkdir -p "$libraries/lib/pkgconfig" "$libraries/include/isa-l"
  cp "$libraries/libisal/include/"*.h "$libraries/include/isa-l"
  cp "$libraries/libisal/bin/isa-l.a" "$libraries/lib/libisal.a"
  printf '%s\n' "Name: libisal" "Description: igzip" "Version: 2.30" "Libs: -L$libraries/lib -lisal" \
    "Cflags: -I$libraries/include" >"$libraries/lib/pkgconfig/libisal.pc"
}

tools/install_dependencies.sh --programs
tools/install_dependencies.sh nasm make dpkg-dev file
mkdir -p "$libraries"
if [ ! -e "$libraries/lib/libsimdjson.a" ] || [ ! -e "$libraries/lib/libisal.a" ]; then
  fetch_source update
  (cd "$libraries" && fetch_source source --download-only simdjson libisal)
fi
build_simdjson
build_libisal
PKG_CONFIG_PATH=$libraries/lib/pkgconfig cmake --preset portable "-DCMAKE_PREFIX_PATH=$libraries"
cmake --build --preset portable -j "$jobs"
for program in trace-ingest trace-query make-trace; do
  if readelf -d "build/portable/bin/$program" | grep -q NEEDED; then
    echo "portable: $program needs libraries of the system" >&2
    exit 1
  fi
done
# Which instructions a CPU has must not matter: one with SSE3 alone, and some since.
if command -v qemu-x86_64-static >/dev/null 2>&1; then
  try=$(mktemp -d)
  trap 'rm -rf "$try"' EXIT
  build/portable/bin/make-trace --vendor amd --output "$try/trace.json.gz" 2>/dev/null
  build/portable/bin/trace-ingest -q -o "$try/here.tracedb" "$try/trace.json.gz"
  for cpu in qemu64 Nehalem Haswell; do
    qemu-x86_64-static -cpu "$cpu" build/portable/bin/trace-ingest -q --force -o "$try/there.tracedb" "$try/trace.json.gz"
    cmp "$try/here.tracedb" "$try/there.tracedb"
  done
fi
cpack --config build/portable/CPackConfig.cmake -G TGZ
