/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_vreadfrom: copy from the peer's windows into memory.
 */
#include "result.h"

int scif_vreadfrom(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	return scif_result(SCIF_CALL(vreadfrom, epd, addr, len, roffset, rma_flags));
}
