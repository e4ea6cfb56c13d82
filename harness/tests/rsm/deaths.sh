#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Exporters and importers killed at every step.  The preload comes after the libraries, so that their
# calls reach it first.
set -u
libraries=$top_builddir/.libs
SCIF_FABRIC=deaths-$$ SCIF_NODE=0 LD_LIBRARY_PATH=$libraries \
	LD_PRELOAD=$libraries/librsm.so.2:$libraries/libscif.so.0:$libraries/libcts-inject.so \
	exec timeout 600 "$top_builddir/rsm-deaths"
