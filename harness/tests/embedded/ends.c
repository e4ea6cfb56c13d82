/* SPDX-License-Identifier: BSD-2-Clause */
#include "ends.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void must(intptr_t result, const char *what)
{
	if (result >= 0)
		return;
	printf("%s: %s\n", what, strerror(errno));
	exit(BROKEN);
}

void connect_ends(scif_epd_t *connected, scif_epd_t *accepted)
{
	scif_epd_t listener = scif_open(), epd = scif_open();
	struct scif_portID to, from;
	int port;

	must(scif_get_nodeIDs(NULL, 0, &to.node), "get_nodeIDs");
	port = scif_bind(listener, 0);
	must(port, "bind");
	to.port = (uint16_t)port;
	must(scif_listen(listener, 1), "listen");
	fcntl(epd, F_SETFL, O_NONBLOCK);
	scif_connect(epd, &to);
	must(scif_accept(listener, &from, accepted, SCIF_ACCEPT_SYNC), "accept");
	must(scif_connect(epd, &to), "connect");
	scif_close(listener);
	*connected = epd;
}
