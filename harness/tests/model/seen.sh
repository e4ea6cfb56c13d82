#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# seen.sh [PATTERN]: runs the mutants by hand whose id matches against the clauses that they violate, has the model judge
# the logs, and prints which it sees: id, seen or unseen. Those of unseen.tsv must be unseen, all others seen; what is
# otherwise is told, and makes the exit status 1. KEEP=FOLDER: the results stay there. The rest of what it needs is in
# the build tree.
set -eu
pattern=${1:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
results=${KEEP:-$work/results}
cts=$top_builddir/harness/runner/scif-cts
reasons=$top_srcdir/harness/tests/model/unseen.tsv

# library ID API KIND: the mutant, which is built where it is one of the source.
library() {
	if [ "$3" = wrapped ]; then
		echo "$top_builddir/harness/mutants/.libs/$2_mutant.so"
	elif sh "$top_srcdir/harness/mutants/build-mutant.sh" "$1" "$2" "$work/built" >"$work/built.log" 2>&1; then
		echo "$work/built/$1/lib$2.so"
	fi
}

# judged ID API KIND CLAUSES: seen, unseen, or broken where there is no log to judge.
judged() {
	rm -rf "$results/$1"
	impl=$(library "$1" "$2" "$3")
	[ "$3" = source ] && CTS_MUTANT=none || CTS_MUTANT=$1
	export CTS_MUTANT
	set -- "$1" --api "$2" --impl "$impl" --filter "$4" --results "$results" --label "$1" \
		--node-adapter "$top_builddir/scif-fabric node" --port-adapter "$top_builddir/scif-fabric ports"
	[ "$3" != rsm ] || set -- "$@" --scif "$top_builddir/.libs/libscif.so"
	mutant=$1
	shift
	"$cts" run "$@" >"$work/output" 2>&1 || :
	status=0
	"$cts" judge "$results/$mutant" >"$work/judged" 2>&1 || status=$?
	case $status in
	0) echo unseen ;;
	1) echo seen ;;
	*) echo broken ;;
	esac
}

# has_reason ID
has_reason() {
	grep -q "^$1	" "$reasons"
}

# complaint ID VERDICT: what is wrong with that, if anything.
complaint() {
	case $2 in
	broken) echo 'there is no log to judge' ;;
	seen) ! has_reason "$1" || echo 'seen, although unseen.tsv says why it cannot be' ;;
	unseen) has_reason "$1" || echo 'unseen, and unseen.tsv has no reason' ;;
	esac
}

grep -v '^#' "$top_srcdir/harness/mutants/by_hand.tsv" >"$work/by_hand"
touch "$work/verdicts" "$work/complaints"
grep -- "$pattern" "$work/by_hand" | while IFS='	' read -r id api kind clauses _; do
	verdict=$(judged "$id" "$api" "$kind" "$clauses" </dev/null)
	printf '%s\t%s\n' "$id" "$verdict" | tee -a "$work/verdicts"
	complaint "$id" "$verdict" | sed "s/^/$id: /" >>"$work/complaints"
done
grep -v '^#' "$reasons" | cut -f 1 | while read -r id; do
	grep -q "^$id	" "$work/by_hand" || echo "$id: unseen.tsv has it, and there is no such mutant" >>"$work/complaints"
done

# count VERDICT
count() {
	grep -c "	$1\$" "$work/verdicts" || :
}
cat "$work/complaints"
echo "$(count seen) seen, $(count unseen) unseen, $(count broken) broken; $(grep -c . "$work/complaints") not as they should be"
[ ! -s "$work/complaints" ] && [ -s "$work/verdicts" ]
