#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# certify-reference.sh LABEL [OPTION...]: certifies the library just built, with the adapters that the
# reference library brings along. The report goes to results/LABEL in the build folder.
set -eu
label=$1
shift
exec "$top_builddir/harness/runner/scif-cts" certify \
	--impl "$top_builddir/.libs/libscif.so" --label "$label" --results "$top_builddir/results" \
	--node-adapter "$top_builddir/scif-fabric node" \
	--port-adapter "$top_builddir/scif-fabric ports" \
	--version-adapter "sh $top_srcdir/harness/tests/fabric/other-version.sh $top_builddir/scif-fabric-next" \
	--jobs 2 "$@"
