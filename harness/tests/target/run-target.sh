#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run-target.sh scif|rsm: the suite of an API against the chosen target, one TAP line per clause.
set -u
read -r target node card provider why <"$top_builddir/target.chosen"
if [ "$target" = embedded ]; then
	echo "1..0 # SKIP the target is embedded ($why)"
	exit 0
fi
echo "# target: $target, $why"
label=target-$1
rm -rf "$top_builddir/results/$label"
sh "$top_srcdir/harness/target/certify-target.sh" "$1" "$label" >&2
status=$?
if [ $status -gt 3 ] || [ ! -f "$top_builddir/results/$label/results.tap" ]; then
	echo "Bail out! certify ended with $status and left no results"
	exit 1
fi
cat "$top_builddir/results/$label/results.tap"
