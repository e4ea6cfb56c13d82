#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# build-for.sh HOST FOLDER [OPTION...]: configures and builds in FOLDER what a card needs, for the system HOST: the
# libraries and the peers.
set -eu
host=$1 folder=$2
shift 2
top=$(cd "$(dirname "$0")/../.." && pwd)
case $folder in
/*) ;;
*) folder=$PWD/$folder ;;
esac
command -v "$host-gcc" >/dev/null 2>&1 || {
	echo "build-for: there is no $host-gcc in PATH" >&2
	exit 1
}
mkdir -p "$folder"
cd "$folder"
[ -f Makefile ] || env -u MAKEFLAGS -u CC -u CXX "$top/configure" -q --host="$host" "$@"
make -s libscif.la librsm.la scif-cts-peer rsm-cts-peer
