#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Replays what the fuzz targets have found broken, and the inputs that reach what all of them reach: nothing but its own
# connection suffers from a hostile peer.
set -u
status=0
for target in greeting schedule; do
	"$top_builddir/fuzz-$target" "$top_srcdir/harness/fuzz/found/$target" "$top_srcdir/harness/fuzz/corpus/$target" ||
		status=1
done
exit $status
