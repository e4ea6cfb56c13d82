#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run-mutant.sh ROW: runs one row of the table of mutants and writes what each of its clauses said:
# row, clause, verdict, kind, reason.
set -u
row=$1
IFS='	' read -r id kind api function _ setting clauses _ <<END
$(sed -n "${row}p" "$work/table.tsv")
END
out=$work/verdicts/$row.tsv
library=$top_builddir/harness/mutants/.libs/${api}_mutant.so

# A mutant of the source is a library of its own, which is built here.
case $setting in
source:*)
	library=$work/built/${setting#source:}/lib$api.so
	if ! sh "$here/build-mutant.sh" "${setting#source:}" "$api" "$work/built" >"$work/built/$row.log" 2>&1; then
		echo "run-mutant.sh: $id: it cannot be built" >&2
		sed 's/^/  /' "$work/built/$row.log" >&2
		printf '%s\t-\tBROKEN\t-\tit cannot be built\n' "$row" >"$out"
		exit 0
	fi
	setting=none
	;;
esac

# run SETTING CLAUSES: what each clause said. Status 2: it could not be run.
run() {
	set -- "$1" --api "$api" --impl "$library" --jobs 1 --tap --filter "$2" \
		--node-adapter "$top_builddir/scif-fabric node" --port-adapter "$top_builddir/scif-fabric ports" \
		--version-adapter "sh $top_srcdir/harness/tests/fabric/other-version.sh $top_builddir/scif-fabric-next"
	[ "$api" != rsm ] || set -- "$@" --scif "$top_builddir/.libs/libscif.so"
	[ -z "$all" ] || set -- "$@" "$all"
	# The right library must not be taken for a wrong one because the machine is busy.
	[ "$kind" != baseline ] || set -- "$@" --timeout-scale 4
	CTS_MUTANT=$1
	shift
	# The clauses of a mutant by hand may be those of several functions.
	CTS_PLAN=$work/plans/$function.json
	[ -f "$CTS_PLAN" ] || CTS_PLAN=$top_builddir/conformance/$api/plan.json
	export CTS_MUTANT CTS_PLAN
	"$top_builddir/harness/runner/scif-cts" run "$@" >"$work/$row.tap" 2>"$work/$row.err"
	[ $? -ne 2 ] || return 2
	awk -v row="$row" -f "$here/verdicts.awk" "$work/$row.tap"
	rm -f "$work/$row.tap" "$work/$row.err"
}

if ! run "$setting" "$clauses" >"$out"; then
	echo "run-mutant.sh: $id: $(cat "$work/$row.err")" >&2
	printf '%s\t-\tBROKEN\t-\t%s\n' "$row" "$(head -n 1 "$work/$row.err")" >"$out"
	exit 0
fi
# Where the set-up of a case needs the very error, the mutant is right the first time.
case $kind in
pair | check)
	again=$(awk -F'\t' '$3 == "UNRESOLVED" { printf "%s%s", count++ ? "," : "", $2 }' "$out")
	[ -z "$again" ] || run "$setting@1" "$again" >>"$out"
	;;
esac
