/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_readfrom: copy from the peer's windows into own windows.
 */
#include "result.h"

int scif_readfrom(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	return scif_result(SCIF_CALL(readfrom, epd, loffset, len, roffset, rma_flags));
}
