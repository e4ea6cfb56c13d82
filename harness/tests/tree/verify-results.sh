#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# What the conformance runs have just written verifies, every verdict follows from the raw log; and so do the
# certifications that are committed, which are of the specification as it is now. Their pages can be sent by mail.
set -u
status=0
cts=$top_builddir/harness/runner/scif-cts

# page_is_small FOLDER
page_is_small() {
	size=$(wc -c <"$1/report.html")
	[ "$size" -lt 2000000 ] || { echo "$1/report.html: $size bytes are too many for a page"; status=1; }
}

for fresh in fresh fresh-rsm fresh-knc; do
	"$cts" verify "$top_builddir/results/$fresh" || status=1
	page_is_small "$top_builddir/results/$fresh"
done
for label in reference reference-rsm standin-knc planted-faults-scif planted-faults-rsm; do
	page_is_small "$top_srcdir/results/$label"
	said=$("$cts" verify "$top_srcdir/results/$label" 2>&1) && { echo "$said"; continue; }
	status=1
	echo "results/$label does not verify:"
	echo "$said"
	case $said in
	*'another spec: '*) echo "The clauses have changed since results/$label was made; make update-results makes it again." ;;
	*'report.html:'*) echo "The page is worded otherwise since results/$label was made; make update-pages writes it again." ;;
	esac
done
exit $status
