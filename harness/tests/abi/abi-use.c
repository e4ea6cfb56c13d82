/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Uses all of both headers in a way that every C from 1989 on and every C++ from 1998 on accepts;
 * abi-header.sh compiles it with each of them.
 */
#include "scif.h"
#include "scif_event.h"
#include "scif.h"
#include "scif_event.h"

#define VALUE(name, number) name,
extern const long abi_values[];
const long abi_values[] = {
#include "values.def"
	0};

#define FUNCTION(name, result, parameters) extern result(*abi_##name) parameters;
#include "functions.def"
#undef FUNCTION
#define FUNCTION(name, result, parameters) result(*abi_##name) parameters = name;
#include "functions.def"

extern int abi_use(scif_epd_t epd);
int abi_use(scif_epd_t epd)
{
	struct scif_portID port;
	struct scif_pollepd poll_one;
	portID_t old_name;
	struct portID older_name;
	union scif_event_data data;
	scif_event_handler_t handler = 0;

	port.node = 1;
	port.port = SCIF_PORT_RSVD;
	old_name = port;
	older_name = old_name;
	poll_one.epd = epd;
	poll_one.events = SCIF_POLLIN | SCIF_POLLOUT;
	poll_one.revents = 0;
	data.scif_node_added = older_name.node;
	if (epd == SCIF_OPEN_FAILED || (off_t)epd == SCIF_REGISTER_FAILED ||
	    (void *)&port == SCIF_MMAP_FAILED)
		return -1;
	return scif_get_fd(poll_one.epd) + data.scif_node_removed +
	       (scif_event_register(handler) == 0);
}
