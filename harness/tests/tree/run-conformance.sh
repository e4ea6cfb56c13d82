#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# run-conformance.sh scif|rsm LABEL: the suite of an API against the library just built, one TAP line per clause.
# The machine may be busy with other things; a right library uses none of the longer limit.
set -u
sh "$top_srcdir/harness/tests/tree/certify-reference.sh" "$1" "$2" --timeout-scale 4 >&2
status=$?
if [ $status -gt 3 ] || [ ! -f "$top_builddir/results/$2/results.tap" ]; then
	echo "Bail out! certify ended with $status and left no results"
	exit 1
fi
cat "$top_builddir/results/$2/results.tap"
