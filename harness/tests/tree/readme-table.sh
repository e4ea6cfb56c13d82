#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The status table of the README is the one that the committed results give.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -n '/<!-- status table: begin -->/,/<!-- status table: end -->/p' "$top_srcdir/README.md" |
	sed '1d;$d' >"$work/readme"
"$top_builddir/harness/runner/scif-cts" status-table "$top_srcdir/results/reference/results.json" \
	>"$work/fresh"
diff -u "$work/readme" "$work/fresh"
