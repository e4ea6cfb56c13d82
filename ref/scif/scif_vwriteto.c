/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_vwriteto: copy from memory into the peer's windows.
 */
#include "result.h"

int scif_vwriteto(scif_epd_t epd, void *addr, size_t len, off_t roffset, int rma_flags)
{
	return scif_result(SCIF_CALL(vwriteto, epd, addr, len, roffset, rma_flags));
}
