#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# scif-bench measures, writes down, compares, says what failed and where, and leaves no process behind.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bench=$top_builddir/bench/scif-bench
fail() {
	echo "$*" >&2
	exit 1
}
# ended FABRIC-USERS: what is started with this word in its environment has ended.
export SCIF_BENCH_TEST="bench-test-$$"
none_left() {
	! grep -lsz "^SCIF_BENCH_TEST=$SCIF_BENCH_TEST$" /proc/[0-9]*/environ | while read -r file; do
		name=$(cat "${file%environ}comm" 2>/dev/null) || continue
		[ "$name" != scif-bench ] || echo "$file"
	done | grep .
}

"$bench" --list | grep -q '^ping-pong ' || fail 'no list'
"$bench" --filter no-such-name >/dev/null 2>&1 && fail 'a name that nothing has' || [ $? -eq 2 ]
"$bench" --repetitions 0 >/dev/null 2>&1 && fail 'no repetitions' || [ $? -eq 2 ]
"$bench" --quick --repetitions 1 --filter fence --json "$work/fence.json" --html "$work/fence.html" >"$work/out"
grep -q 'scif_fence_signal .* ns' "$work/out" || fail 'no figures'
grep -q '"format": "scif-bench/1"' "$work/fence.json" || fail 'no document'
grep -q '</html>' "$work/fence.html" || fail 'no page'
none_left || fail 'processes are left'

# Nothing in common with the reference is no success.
"$bench" --quick --repetitions 1 --filter fence --compare "$work/fence.json" >/dev/null && fail 'nothing was compared' || [ $? -eq 1 ]

# A library that refuses: what, and status 1.
cat >"$work/refuses.c" <<'END'
#include <errno.h>
int scif_fence_signal(void) { errno = EPROTO; return -1; }
END
$CC -shared -fPIC -o "$work/refuses.so" "$work/refuses.c"
status=0
LD_PRELOAD=$work/refuses.so "$bench" --quick --repetitions 1 --filter fence >"$work/out" 2>&1 || status=$?
[ $status -eq 1 ] || fail "status $status of a failure"
grep -q 'FAILED: scif_fence_signal: scif_fence_signal: Protocol error' "$work/out" || fail 'the failure is not said'
grep -q 'scif_fence_mark, _wait .* ns' "$work/out" || fail 'what did not fail was not measured'
none_left || fail 'processes are left by a failure'
