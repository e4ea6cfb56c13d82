/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_connect: connect an endpoint to a listening port.
 */
#include "result.h"

int scif_connect(scif_epd_t epd, struct scif_portID *dst)
{
	return scif_result(SCIF_CALL(connect, epd, dst));
}
