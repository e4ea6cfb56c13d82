#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# certify-reference.sh scif|rsm LABEL [OPTION...]: certifies the library just built, with the adapters that the
# reference libraries bring along. The report goes to results/LABEL in the build folder. A machine with a card
# has another default than the fabric that the adapters belong to.
set -eu
SCIF_PROVIDER=embedded
export SCIF_PROVIDER
api=$1 label=$2
shift 2
[ "$api" != rsm ] || set -- --scif "$top_builddir/.libs/libscif.so" "$@"
exec "$top_builddir/harness/runner/scif-cts" certify --api "$api" \
	--impl "$top_builddir/.libs/lib$api.so" --label "$label" --results "$top_builddir/results" \
	--node-adapter "$top_builddir/scif-fabric node" \
	--port-adapter "$top_builddir/scif-fabric ports" \
	--version-adapter "sh $top_srcdir/harness/tests/fabric/other-version.sh $top_builddir/scif-fabric-next" \
	--jobs 2 "$@"
