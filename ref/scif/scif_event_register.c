/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_event_register: have a routine called at node events.
 */
#include "result.h"

int scif_event_register(scif_event_handler_t handler)
{
	return scif_result(SCIF_CALL(event_register, handler));
}
