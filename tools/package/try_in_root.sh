#!/bin/sh
# Proves a package in a fresh root: installs it, gets first answers from a synthetic pair of traces, removes it, and lists
# what is left. As root; the folder is one that debootstrap made, and has no other use.
#
#   debootstrap --variant=minbase bookworm /tmp/root
#   tools/package/try_in_root.sh /tmp/root build/release/package/tracedb_0.2.0_amd64.deb
#   tools/package/try_in_root.sh /tmp/root build/portable/package/tracedb-0.2.0-linux-x86_64.tar.gz
set -eu
if [ $# -ne 2 ] || [ ! -x "$1/bin/sh" ] || [ ! -f "$2" ]; then
  echo "usage: tools/package/try_in_root.sh ROOT_FOLDER PACKAGE.deb|ARCHIVE.tar.gz" >&2
  exit 2
fi
root=$(readlink -f "$1")
package=$2
name=$(basename "$package")

inside() {
  chroot "$root" /usr/bin/env -i PATH="$path" HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

# Files that are neither dpkg's and apt's own nor logs and caches.
files() {
  (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o \
    -path ./var/cache -o -path ./var/log -o -path ./tmp \) -prune -o -print | sort)
}

seconds() {
  date +%s.%N
}

path=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
cp /etc/resolv.conf "$root/etc/resolv.conf"
[ -e "$root/dev/null" ] && [ -c "$root/dev/null" ] || mknod -m 666 "$root/dev/null" c 1 3
files >"$root/tmp/before"
cp "$package" "$root/tmp/$name"
begin=$(seconds)
case $name in
  *.deb)
    inside apt-get -qq update
    inside apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends "/tmp/$name" >/dev/null
    ;;
  *)
    tar -C "$root/opt" -xzf "$package"
    path=/opt/${name%.tar.gz}/bin:$path
    ;;
esac
inside sh -eu -c '
  mkdir -p /tmp/try && cd /tmp/try
  make-trace --vendor amd --output mi300x.json 2>/dev/null
  make-trace --vendor nvidia --output h100.json.gz 2>/dev/null
  trace-ingest -q mi300x.json h100.json.gz
  trace-query info -q --csv mi300x.json | grep -c ^
  trace-query compare -q mi300x.json h100.json.gz | head -n 2
  trace-query ops -q --limit 2 --columns time_pct,op h100.json.gz
  trace-query sql -q mi300x.json "SELECT count(*) AS kernels FROM kernels WHERE op_class(name) LIKE \"%gemm%\""
  trace-query verify -q mi300x.json.tracedb | tail -n 1'
end=$(seconds)
echo "$(. "$root/etc/os-release" && echo "$PRETTY_NAME"): $(echo "$end $begin" | awk '{printf "%.1f", $1 - $2}') s to first answers"
rm -rf "$root/tmp/try"
case $name in
  *.deb) inside apt-get -qq purge -y --autoremove tracedb >/dev/null ;;
  *) rm -rf "$root/opt/${name%.tar.gz}" ;;
esac
files >"$root/tmp/after"
diff "$root/tmp/before" "$root/tmp/after" | grep '^[<>]' || echo "removal left nothing"
rm -f "$root/tmp/before" "$root/tmp/after" "$root/tmp/$name"
