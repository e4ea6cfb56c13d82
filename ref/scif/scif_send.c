/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_send: send bytes to the peer.
 */
#include "result.h"

int scif_send(scif_epd_t epd, void *msg, int len, int flags)
{
	return scif_result(SCIF_CALL(send, epd, msg, len, flags));
}
