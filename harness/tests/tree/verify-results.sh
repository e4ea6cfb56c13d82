#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What the conformance runs have just written verifies: every verdict follows from the raw log. Their pages can be sent
# by mail.
set -u
status=0
for fresh in fresh fresh-rsm fresh-knc; do
	"$top_builddir/harness/runner/scif-cts" verify "$top_builddir/results/$fresh" || status=1
	size=$(wc -c <"$top_builddir/results/$fresh/report.html")
	[ "$size" -lt 2000000 ] || { echo "$fresh/report.html: $size bytes are too many for a page"; status=1; }
done
exit $status
