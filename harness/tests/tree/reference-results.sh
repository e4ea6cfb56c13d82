#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The committed certifications of the reference libraries are what fresh runs give.
set -eu
for committed in "$top_srcdir"/results/reference*; do
	fresh=$top_builddir/results/fresh${committed##*/reference}
	"$top_builddir/harness/runner/scif-cts" diff-verdicts "$committed/results.json" "$fresh/results.json"
done
