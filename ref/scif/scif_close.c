/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_close: close an endpoint.
 */
#include "result.h"

int scif_close(scif_epd_t epd)
{
	return scif_result(SCIF_CALL(close, epd));
}
