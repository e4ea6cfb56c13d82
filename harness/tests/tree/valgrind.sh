#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# valgrind.sh [scif|rsm] [FUNCTION...]: every short case of the functions (default: all, of both APIs or of the one
# named) with case and peer under memcheck, two functions at a time. Fails when memcheck reports anything that valgrind.supp does not
# explain, or a case fails. Fault injection replaces malloc, as memcheck does, so those cases are UNTESTED.
set -eu
here=$top_srcdir/harness/tests/tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
memcheck="valgrind -q --suppressions=$here/valgrind.supp --leak-check=full --show-leak-kinds=definite"
memcheck="$memcheck --errors-for-leak-kinds=definite"

SCIF_CTS_PEER_LAUNCH="$memcheck --log-file=$work/peer.%p.memcheck"
CTS_NODE_ADAPTER="$top_builddir/scif-fabric node"
CTS_PORT_ADAPTER="$top_builddir/scif-fabric ports"
SCIF_PROVIDER=embedded
export SCIF_CTS_PEER_LAUNCH CTS_NODE_ADAPTER CTS_PORT_ADAPTER SCIF_PROVIDER memcheck work

case ${1-} in
scif | rsm) only=$1 && shift ;;
*) only= ;;
esac
"$top_builddir/harness/runner/scif-cts" list functions | awk -F '\t' -v wanted=" $* " -v only="$only" \
	'NR > 1 && (only == "" || $2 == only) && (wanted == "  " || index(wanted, " " $1 " ")) { print $2, $1 }' \
	>"$work/functions"
[ -s "$work/functions" ] || { echo "valgrind.sh: there is no function $*" >&2; exit 2; }

# Each with the variables that the runner sets for its cases.
xargs -P 2 -L 1 sh -c '
	api=$1 function=$2
	CTS_IMPL=$(realpath "$top_builddir/.libs/lib$api.so")
	CTS_PEER=$top_builddir/$api-cts-peer
	export CTS_IMPL CTS_PEER
	if [ "$api" = rsm ]; then
		CTS_SCIF=$(realpath "$top_builddir/.libs/libscif.so")
		export CTS_SCIF
	fi
	$memcheck --log-file=$work/case.%p.memcheck "$top_builddir/conformance/$api/$function" \
		--timeout-scale 40 >"$work/$function.tap" 2>"$work/$function.err" || true
	passed=$(grep "^ok" "$work/$function.tap" | grep -vc "# SKIP") || true
	[ "$passed" -gt 0 ] || echo "not ok - no case of $function passed" >>"$work/$function.tap"
	echo "$function: $passed passed, $(grep -c "^not ok" "$work/$function.tap") failed," \
		"$(grep -c "# SKIP" "$work/$function.tap") skipped"' sh <"$work/functions"

status=0
grep -h -A 2 '^not ok' "$work"/*.tap && status=1
# memcheck speaks of system calls that it does not know; that is no report about the program.
for log in "$work"/*.memcheck; do
	grep -qE '^==[0-9]+==' "$log" && grep -E '^==[0-9]+==' "$log" && status=1
done
[ $status -eq 0 ] && echo "memcheck reports nothing"
exit $status
