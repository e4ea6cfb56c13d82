#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# valgrind.sh [FUNCTION...]: every short case of the functions (default: all) with case and peer under
# memcheck, two functions at a time. Fails when memcheck reports anything that valgrind.supp does not
# explain, or a case fails. Fault injection replaces malloc, as memcheck does, so those cases are UNTESTED.
set -eu
here=$top_srcdir/harness/tests/tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
memcheck="valgrind -q --suppressions=$here/valgrind.supp --leak-check=full --show-leak-kinds=definite"
memcheck="$memcheck --errors-for-leak-kinds=definite"

CTS_IMPL=$(realpath "$top_builddir/.libs/libscif.so")
CTS_PEER=$top_builddir/scif-cts-peer
SCIF_CTS_PEER_LAUNCH="$memcheck --log-file=$work/peer.%p.memcheck"
CTS_NODE_ADAPTER="$top_builddir/scif-fabric node"
CTS_PORT_ADAPTER="$top_builddir/scif-fabric ports"
export CTS_IMPL CTS_PEER SCIF_CTS_PEER_LAUNCH CTS_NODE_ADAPTER CTS_PORT_ADAPTER memcheck work

[ $# -gt 0 ] || set -- $("$top_builddir/harness/runner/scif-cts" list functions | tail -n +2 | cut -f1)
for function in "$@"; do
	echo "$function"
done | xargs -P 2 -I FUNCTION sh -c '
	$memcheck --log-file=$work/case.%p.memcheck \
		"$top_builddir/conformance/scif/FUNCTION" --timeout-scale 40 >"$work/FUNCTION.tap" 2>"$work/FUNCTION.err" ||
		true
	passed=$(grep "^ok" "$work/FUNCTION.tap" | grep -vc "# SKIP") || true
	[ "$passed" -gt 0 ] || echo "not ok - no case of FUNCTION passed" >>"$work/FUNCTION.tap"
	echo "FUNCTION: $passed passed, $(grep -c "^not ok" "$work/FUNCTION.tap") failed," \
		"$(grep -c "# SKIP" "$work/FUNCTION.tap") skipped"'

status=0
grep -h '^not ok' "$work"/*.tap && status=1
# memcheck speaks of system calls that it does not know; that is no report about the program.
for log in "$work"/*.memcheck; do
	grep -qE '^==[0-9]+==' "$log" && grep -E '^==[0-9]+==' "$log" && status=1
done
[ $status -eq 0 ] && echo "memcheck reports nothing"
exit $status
