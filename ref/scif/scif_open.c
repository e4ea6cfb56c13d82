/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_open: create an endpoint.
 */
#include "result.h"

scif_epd_t scif_open(void)
{
	return scif_result(SCIF_CALL(open));
}
