#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The committed certifications of the reference libraries are what fresh runs give, and those of libraries with planted
# faults are what was reviewed.
set -eu
# same COMMITTED OTHER
same() {
	"$top_builddir/harness/runner/scif-cts" diff-verdicts "$top_srcdir/results/$1/results.json" "$2"
}
same reference "$top_builddir/results/fresh/results.json"
same reference-rsm "$top_builddir/results/fresh-rsm/results.json"
same standin-knc "$top_builddir/results/fresh-knc/results.json"
same planted-faults-scif "$top_srcdir/harness/tests/meta/expected/faults.tsv"
same planted-faults-rsm "$top_srcdir/harness/tests/meta/expected/rsm_faults.tsv"
