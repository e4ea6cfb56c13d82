/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_fence_wait: wait until marked transfers are complete.
 */
#include "result.h"

int scif_fence_wait(scif_epd_t epd, int mark)
{
	return scif_result(SCIF_CALL(fence_wait, epd, mark));
}
