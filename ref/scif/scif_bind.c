/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_bind: bind an endpoint to a port.
 */
#include "result.h"

int scif_bind(scif_epd_t epd, uint16_t pn)
{
	return scif_result(SCIF_CALL(bind, epd, pn));
}
