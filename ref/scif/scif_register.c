/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_register: open a window.
 */
#include "result.h"

off_t scif_register(scif_epd_t epd, void *addr, size_t len, off_t offset, int prot_flags,
		    int map_flags)
{
	return scif_offset_result(SCIF_CALL(reg, epd, addr, len, offset, prot_flags, map_flags));
}
