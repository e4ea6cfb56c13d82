#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A short soak. How long anything may take is no matter here: a machine that runs all tests at once is slow.
set -u
cd "$top_builddir" || exit 99
exec ./scif-soak --kills 200 --seed 1 --timeout-scale 30
