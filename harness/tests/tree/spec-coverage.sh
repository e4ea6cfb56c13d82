#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# results/coverage/spec-coverage.txt and .json are what the clauses and the committed certifications of the reference
# libraries give. With UPDATE=1 they are written, and the table is printed (make spec-coverage).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
committed=$top_srcdir/results/coverage
cts=$top_builddir/harness/runner/scif-cts

"$cts" spec-coverage "$top_srcdir/results/reference" "$top_srcdir/results/reference-rsm" >"$work/spec-coverage.txt"
"$cts" spec-coverage --format json "$top_srcdir/results/reference" "$top_srcdir/results/reference-rsm" \
	>"$work/spec-coverage.json"
if [ -n "${UPDATE-}" ]; then
	mkdir -p "$committed"
	cp "$work/spec-coverage.txt" "$work/spec-coverage.json" "$committed"
	cat "$work/spec-coverage.txt"
	exit 0
fi
status=0
for file in spec-coverage.txt spec-coverage.json; do
	diff -u "$committed/$file" "$work/$file" || status=1
done
[ $status -eq 0 ] || echo 'results/coverage is stale: make spec-coverage' >&2
exit $status
