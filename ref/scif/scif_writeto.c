/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_writeto: copy from own windows into the peer's windows.
 */
#include "result.h"

int scif_writeto(scif_epd_t epd, off_t loffset, size_t len, off_t roffset, int rma_flags)
{
	return scif_result(SCIF_CALL(writeto, epd, loffset, len, roffset, rma_flags));
}
