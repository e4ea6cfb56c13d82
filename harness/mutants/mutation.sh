#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# mutation.sh [--all] [--merge] [--jobs N] [--results FOLDER] [--generated | --by-hand] [--list FILE] [GLOB...]:
# runs every mutant (or those whose id matches a GLOB) against the clauses that it violates, and writes
# FOLDER/mutants.tsv and FOLDER/summary.txt; those by hand are the ones that FILE lists.
# docs/mutation.md says what they hold. The exit status is 1 when a mutant has survived or could not be judged.
set -u
LC_ALL=C
export LC_ALL
here=$top_srcdir/harness/mutants
all='' merge='' jobs=2 results=$top_builddir/results/mutation kinds='pair|check|exempt|by-hand' list=$here/by_hand.tsv
while [ $# -gt 0 ]; do
	case $1 in
	--all) all=--all ;;
	--merge) merge=yes ;;
	--jobs) jobs=$2 && shift ;;
	--results) results=$2 && shift ;;
	--generated) kinds='pair|check|exempt' ;;
	--list) list=$2 && shift ;;
	--by-hand) kinds='by-hand' ;;
	--*) echo "mutation.sh: unknown option $1" >&2 && exit 2 ;;
	*) break ;;
	esac
	shift
done

work=$(mktemp -d)
export top_srcdir top_builddir work here all
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
started=$(date +%s)

matches() {
	[ $# -gt 1 ] || return 0
	id=$1
	shift
	for glob in "$@"; do
		# shellcheck disable=SC2254
		case $id in $glob) return 0 ;; esac
	done
	return 1
}

mkdir "$work/plans" "$work/verdicts" "$work/built"
"$top_builddir/harness/mutants/generate" "$work/plans" "$top_builddir/conformance/scif/plan.json" \
	"$top_builddir/conformance/rsm/plan.json" >"$work/generated.tsv" || exit 2
awk -f "$here/by_hand.awk" "$list" >"$work/by-hand.tsv" || exit 2
cat "$work/generated.tsv" "$work/by-hand.tsv" >"$work/all.tsv"
while IFS='	' read -r id kind rest; do
	case "|$kinds|" in
	*"|$kind|"*) matches "$id" "$@" && printf '%s\t%s\t%s\n' "$id" "$kind" "$rest" ;;
	esac
done <"$work/all.tsv" >"$work/chosen.tsv"
# What cannot be wrong by itself must not kill: the same clauses on a wrapper that changes nothing.
awk -f "$here/baseline.awk" "$work/chosen.tsv" >"$work/baseline.tsv"
cat "$work/baseline.tsv" "$work/chosen.tsv" >"$work/table.tsv"
[ -s "$work/chosen.tsv" ] || { echo "mutation.sh: no mutant matches" >&2 && exit 2; }

awk -F'\t' '$2 != "exempt" { print NR }' "$work/table.tsv" |
	xargs -P "$jobs" -n 1 sh "$here/run-mutant.sh"

mkdir -p "$results" || exit 2
awk -f "$here/judge.awk" "$here/equivalent.tsv" "$work/table.tsv" "$work"/verdicts/*.tsv >"$work/judged.tsv"
# With --merge the mutants that were not run now keep what an earlier run has found.
if [ -n "$merge" ] && [ -f "$results/mutants.tsv" ]; then
	awk -f "$here/merge.awk" "$work/all.tsv" "$work/judged.tsv" "$results/mutants.tsv" >"$work/merged.tsv"
	mv "$work/merged.tsv" "$work/judged.tsv"
fi
{
	echo '# scif-cts-mutation/1'
	echo '# id, kind, api, function, status, clause, how, text, why'
	awk -F'\t' '$5 == "survived" || $5 == "broken"' "$work/judged.tsv"
	awk -F'\t' '$5 != "survived" && $5 != "broken"' "$work/judged.tsv"
} >"$results/mutants.tsv"
awk -f "$here/summary.awk" "$results/mutants.tsv" >"$results/summary.txt"
status=$?
cat "$results/summary.txt"
echo "Time: $(($(date +%s) - started)) s"
exit $status
