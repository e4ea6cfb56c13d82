/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_fence_mark: mark the transfers that are under way.
 */
#include "result.h"

int scif_fence_mark(scif_epd_t epd, int flags, int *mark)
{
	return scif_result(SCIF_CALL(fence_mark, epd, flags, mark));
}
