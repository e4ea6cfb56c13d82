#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The example program again, over the driver provider of libscif on the stand-in for a card's driver.
SCIF_PROVIDER=hw:knc
SCIF_OTHER=$top_builddir/.libs/libscif-standin.so
export SCIF_PROVIDER SCIF_OTHER
exec sh "$top_srcdir/harness/tests/rsm/exchange.sh"
