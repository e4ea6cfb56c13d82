#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The status tables of the README are those that the committed results give.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for committed in "$top_srcdir"/results/reference*; do
	name=${committed##*/}
	sed -n "/<!-- status table of $name: begin -->/,/<!-- status table of $name: end -->/p" "$top_srcdir/README.md" |
		sed '1d;$d' >"$work/readme"
	"$top_builddir/harness/runner/scif-cts" status-table "$committed/results.json" >"$work/fresh"
	diff -u "$work/readme" "$work/fresh"
done
