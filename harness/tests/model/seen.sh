#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# seen.sh [PATTERN]: runs the mutants by hand whose id matches against the clauses that they violate, has the model judge
# the logs, and prints which it sees: id, seen or unseen. The rest of what it needs is in the build tree.
set -eu
pattern=${1:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cts=$top_builddir/harness/runner/scif-cts

# library ID API KIND: the mutant, which is built where it is one of the source.
library() {
	if [ "$3" = wrapped ]; then
		echo "$top_builddir/harness/mutants/.libs/$2_mutant.so"
	elif sh "$top_srcdir/harness/mutants/build-mutant.sh" "$1" "$2" "$work/built" >"$work/built.log" 2>&1; then
		echo "$work/built/$1/lib$2.so"
	fi
}

grep -v '^#' "$top_srcdir/harness/mutants/by_hand.tsv" | grep -- "$pattern" | while IFS='	' read -r id api kind clauses _; do
	impl=$(library "$id" "$api" "$kind")
	set -- --api "$api" --impl "$impl" --filter "$clauses" --results "$work/results" --label "$id" \
		--node-adapter "$top_builddir/scif-fabric node" --port-adapter "$top_builddir/scif-fabric ports"
	[ "$api" != rsm ] || set -- "$@" --scif "$top_builddir/.libs/libscif.so"
	CTS_MUTANT=$([ "$kind" = source ] && echo none || echo "$id") "$cts" run "$@" >"$work/output" 2>&1 || :
	status=0
	"$cts" judge "$work/results/$id" >"$work/judged" 2>&1 || status=$?
	case $status in
	0) echo "$id	unseen" ;;
	1) echo "$id	seen" ;;
	*) echo "$id	broken" ;;
	esac
done
