#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The tables of the README are those that the committed results give. With UPDATE=1 they are written into it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
readme=$top_srcdir/README.md
tables=0

# table NAME COMMAND ARGUMENT...: what stands between the marks of that name is what the command prints.
table() {
	begin="<!-- $1: begin -->" end="<!-- $1: end -->"
	tables=$((tables + 1))
	shift
	grep -qxF "$begin" "$readme" && grep -qxF "$end" "$readme" || { echo "README.md lacks the mark $begin" >&2; exit 1; }
	"$@" >"$work/fresh"
	awk -v begin="$begin" -v end="$end" -v fresh="$work/fresh" '
		$0 == end { inside = 0 }
		!inside
		$0 == begin { inside = 1; while ((getline line <fresh) > 0) print line }' "$readme" >"$work/readme"
	if [ -n "${UPDATE-}" ]; then
		cat "$work/readme" >"$readme"
	else
		diff -u "$readme" "$work/readme" || { echo 'a table of README.md is stale: make update-readme' >&2; exit 1; }
	fi
}

for committed in "$top_srcdir"/results/reference*; do
	table "status table of ${committed##*/}" "$top_builddir/harness/runner/scif-cts" status-table "$committed/results.json"
done
table figures sh "$top_srcdir/harness/tests/tree/figures.sh" "$top_srcdir/results"
table 'targets of speed' sh "$top_srcdir/harness/tests/tree/bench-targets.sh" "$top_srcdir/results/bench/table.txt"
[ "$(grep -c '^<!-- .*: begin -->$' "$readme")" -eq $tables ] || { echo 'a table of the README has no command' >&2; exit 1; }
