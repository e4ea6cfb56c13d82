/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_accept: take the first waiting connection request.
 */
#include "result.h"

int scif_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	return scif_result(SCIF_CALL(accept, epd, peer, newepd, flags));
}
