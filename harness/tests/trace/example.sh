#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The example program, docs/exchange.c, is traced on both nodes: it does what it does without that, and the model allows
# each of its steps.
set -u
work=$(mktemp -d)
exporter=
trap '[ -z "$exporter" ] || kill "$exporter" 2>/dev/null; rm -rf "$work"' EXIT
SCIF_FABRIC=trace-example-$$
LD_LIBRARY_PATH=$top_builddir/.libs
export SCIF_FABRIC LD_LIBRARY_PATH
scif_cts=$top_builddir/harness/runner/scif-cts

# shellcheck disable=SC2086
$CC -Wall -Wextra -Werror -I"$top_srcdir/include" -o "$work/exchange" "$top_srcdir/docs/exchange.c" \
	-L"$top_builddir/.libs" -lrsm -Wl,-rpath-link,"$top_builddir/.libs" || exit 1
exchange() { # NODE ARGUMENTS...
	SCIF_NODE=$1 timeout 60 "$scif_cts" trace -o "$work/node$1" "$work/exchange" -"$2" -n "$3"
}

mkfifo "$work/printed"
exchange 1 e 0 >"$work/printed" 2>"$work/said" &
exporter=$!
exec 3<"$work/printed"
IFS= read -r first <&3
[ "$first" = "segment 0x400000 is published" ] || { echo "the exporter says: $first"; exit 1; }
echo 'hello from node 0' | exchange 0 i 1 || { echo "the importer ended with $?"; exit 1; }
received=$(cat <&3)
wait "$exporter" || { echo "the exporter ended with $?"; exit 1; }
exporter=
[ "$received" = 'hello from node 0' ] || { echo "received: $received"; exit 1; }
for node in 0 1; do
	gzip -dc "$work/node$node" | grep -q '"rsm_release_controller",.*"end","exited","0"' ||
		{ echo "the log of node $node is not whole"; exit 1; }
	"$scif_cts" judge "$work/node$node" || exit 1
done
