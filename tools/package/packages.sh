#!/bin/sh
# Makes the packages of a release in build/package: a .deb for this Debian, an archive for any Linux on x86-64 and a wheel
# for Python. Installs what is missing, as root or through sudo.
set -eu
cd "$(dirname "$0")/../.."
packages=$PWD/build/package
rm -rf "$packages"
mkdir -p "$packages"

tools/install_dependencies.sh --programs
tools/install_dependencies.sh dpkg-dev fakeroot file lintian python3-pip python3-setuptools python3-wheel
# A folder of its own: build/release may have tests, which no package needs.
cmake --preset programs -B build/deb
cmake --build build/deb -j "$(nproc)" --target programs
cpack --config build/deb/CPackConfig.cmake -B "$packages"
lintian --fail-on error "$packages"/*.deb

tools/package/portable.sh
cp build/portable/package/*.tar.gz "$packages"

cp -r tools/python build/wheel_source
/usr/bin/python3 -m pip wheel --quiet --no-deps --no-build-isolation --disable-pip-version-check -w "$packages" build/wheel_source
rm -rf build/wheel_source "$packages/_CPack_Packages"
ls -l "$packages"
