/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_fence_signal: write values when the transfers that are under way are complete.
 */
#include "result.h"

int scif_fence_signal(scif_epd_t epd, off_t loff, uint64_t lval, off_t roff, uint64_t rval,
		      int flags)
{
	return scif_result(SCIF_CALL(fence_signal, epd, loff, lval, roff, rval, flags));
}
