/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_mmap: map windows of the peer.
 */
#include "result.h"

void *scif_mmap(void *addr, size_t len, int prot_flags, int map_flags, scif_epd_t epd, off_t offset)
{
	void *pa = NULL;

	if (scif_result(SCIF_CALL(mmap, &pa, addr, len, prot_flags, map_flags, epd, offset)) < 0)
		return SCIF_MMAP_FAILED;
	return pa;
}
