/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_unregister: close windows.
 */
#include "result.h"

int scif_unregister(scif_epd_t epd, off_t offset, size_t len)
{
	return scif_result(SCIF_CALL(unreg, epd, offset, len));
}
