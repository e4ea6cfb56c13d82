/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_poll: wait until endpoints are ready.
 */
#include "result.h"

int scif_poll(struct scif_pollepd *epds, unsigned int nepds, long timeout)
{
	return scif_result(SCIF_CALL(poll, epds, nepds, timeout));
}
