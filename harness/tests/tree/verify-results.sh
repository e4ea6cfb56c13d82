#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What the conformance runs have just written verifies: every verdict follows from the raw log.
set -u
status=0
for fresh in fresh fresh-rsm fresh-knc; do
	"$top_builddir/harness/runner/scif-cts" verify "$top_builddir/results/$fresh" || status=1
done
exit $status
