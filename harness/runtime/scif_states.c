/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the calls of a case have made of its endpoints, for the raw log: nothing is asked, the calls
 * are read in their order.
 */
#include "scif_endpoints.h"

#define KNOWN 1024

static const char *states[KNOWN];

const char *scif_endpoint_state(int epd)
{
	return epd >= 0 && epd < KNOWN && states[epd] ? states[epd] : "unknown";
}

static void set(int epd, const char *state)
{
	if (epd >= 0 && epd < KNOWN)
		states[epd] = state;
}

/* A call of FUNCTION on EPD that gave RET, ERR and, by accept, the endpoint MADE. */
void scif_endpoint_observed(const char *function, int epd, int ret, int err, int made)
{
	if (!function)
		memset(states, 0, sizeof states);
	else if (!strcmp(function, "scif_open"))
		set(ret, "unbound");
	else if (!strcmp(function, "scif_connect") && ret == -1 && err == EINPROGRESS)
		set(epd, "connecting");
	else if (ret == -1)
		return;
	else if (!strcmp(function, "scif_bind"))
		set(epd, "bound");
	else if (!strcmp(function, "scif_listen"))
		set(epd, "listening");
	else if (!strcmp(function, "scif_connect"))
		set(epd, "connected");
	else if (!strcmp(function, "scif_accept"))
		set(made, "connected");
	else if (!strcmp(function, "scif_close"))
		set(epd, "closed");
}
