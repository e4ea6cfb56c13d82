#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Runs PROGRAM with the stand-in preloaded, on a machine of node 0 alone, apart from every other fabric.
standin=$top_builddir/.libs/libscif-standin.so
if [ ! -f "$standin" ]; then
	echo "Bail out! $standin has not been built"
	exit 1
fi
unset SCIF_NODE SCIF_HW_DEVICE
SCIF_FABRIC=standin-$$
SCIF_STANDIN_NODES=1
export SCIF_FABRIC SCIF_STANDIN_NODES
LD_PRELOAD=$standin${LD_PRELOAD:+:$LD_PRELOAD} exec timeout -k 5 400 "$@"
