#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The example program, docs/exchange.c, compiles without a warning and does what it says, between
# processes of two nodes.  With SCIF_OTHER in the environment that libscif is preloaded under it.
set -u
work=$(mktemp -d)
exporter=
trap '[ -z "$exporter" ] || kill "$exporter" 2>/dev/null; rm -rf "$work"' EXIT
SCIF_FABRIC=exchange-$$
export SCIF_FABRIC

# shellcheck disable=SC2086
$CC -Wall -Wextra -Werror -I"$top_srcdir/include" -o "$work/exchange" "$top_srcdir/docs/exchange.c" \
	-L"$top_builddir/.libs" -lrsm -Wl,-rpath-link,"$top_builddir/.libs" || exit 1
exchange() { # NODE ARGUMENTS...
	SCIF_NODE=$1 LD_LIBRARY_PATH=$top_builddir/.libs LD_PRELOAD=${SCIF_OTHER-} \
		timeout 60 "$work/exchange" -"$2" -n "$3"
}

# Longer than the segment, so that the ring of the example wraps.
{
	echo "hello from node 0"
	awk 'BEGIN { for (i = 1; i <= 400; i++) printf "line %d of four hundred and two\n", i }'
	printf 'an end without a newline'
} >"$work/sent"

mkfifo "$work/printed"
exchange 1 e 0 >"$work/printed" &
exporter=$!
exec 3<"$work/printed"
IFS= read -r first <&3
if [ "$first" != "segment 0x400000 is published" ]; then
	echo "the exporter says: $first"
	exit 1
fi
exchange 0 i 1 <"$work/sent" || {
	echo "the importer ended with $?"
	exit 1
}
cat <&3 >"$work/received"
wait "$exporter"
status=$?
exporter=
if [ "$status" -ne 0 ]; then
	echo "the exporter ended with $status"
	exit 1
fi
cmp "$work/sent" "$work/received" || exit 1
echo "$(wc -l <"$work/received") lines arrived"
