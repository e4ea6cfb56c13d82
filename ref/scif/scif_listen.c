/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_listen: let an endpoint receive connection requests.
 */
#include "result.h"

int scif_listen(scif_epd_t epd, int backlog)
{
	return scif_result(SCIF_CALL(listen, epd, backlog));
}
