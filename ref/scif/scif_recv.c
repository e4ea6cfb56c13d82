/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_recv: receive bytes from the peer.
 */
#include "result.h"

int scif_recv(scif_epd_t epd, void *msg, int len, int flags)
{
	return scif_result(SCIF_CALL(recv, epd, msg, len, flags));
}
