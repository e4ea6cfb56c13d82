#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The committed results/mutation has a line for every documented pair and every mutant by hand, no survivor, and its
# summary counts what the lines say.
set -eu
LC_ALL=C
export LC_ALL
here=$top_srcdir/harness/mutants
results=$top_srcdir/results/mutation
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/plans"
"$top_builddir/harness/mutants/generate" "$work/plans" "$top_builddir/conformance/scif/plan.json" \
	"$top_builddir/conformance/rsm/plan.json" >"$work/generated"
{
	awk -F'\t' '$2 != "check" { print $1 "\t" $2 }' "$work/generated"
	awk -f "$here/by_hand.awk" "$here/by_hand.tsv" | cut -f 1,2
} | sort >"$work/due"
awk -F'\t' '!/^#/ && $2 != "check" { print $1 "\t" $2 }' "$results/mutants.tsv" | sort >"$work/there"
if ! diff "$work/due" "$work/there"; then
	echo 'results/mutation is not of these clauses and mutants: make update-mutation-results' >&2
	exit 1
fi
awk -F'\t' '
	/^#/ { next }
	$5 == "survived" || $5 == "broken" { print "not killed: " $1; bad = 1 }
	$5 == "killed" { killed++ }
	$5 == "equivalent" { equivalent++ }
	$5 == "killed" && $6 == "-" { print "killed by nothing: " $1; bad = 1 }
	END {
		if (equivalent > 5) { print equivalent " equivalent mutants"; bad = 1 }
		print killed + 0 >counted
		exit bad
	}' counted="$work/killed" "$results/mutants.tsv"
read -r killed <"$work/killed"
if ! grep -q "^$killed of $killed mutants killed by the clause that they violate, 0 survived" "$results/summary.txt"; then
	echo "results/mutation/summary.txt does not count the $killed lines" >&2
	exit 1
fi
