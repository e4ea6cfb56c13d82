#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The committed certification of the reference library is what a fresh run gives.
set -eu
exec "$top_builddir/harness/runner/scif-cts" diff-verdicts \
	"$top_srcdir/results/reference/results.json" "$top_builddir/results/fresh/results.json"
