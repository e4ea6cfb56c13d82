/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the calls of a case have made of its endpoints, for the raw log: nothing is asked, the calls
 * are read in their order.
 */
#include "scif_states.h"

#include <errno.h>
#include <string.h>

const char *scif_state(const struct scif_states *states, int epd)
{
	return epd >= 0 && epd < SCIF_STATES && states->of[epd] ? states->of[epd] : "unknown";
}

static void set(struct scif_states *states, int epd, const char *state)
{
	if (epd >= 0 && epd < SCIF_STATES)
		states->of[epd] = state;
}

void scif_states_follow(struct scif_states *states, const char *function, int epd, int ret, int err,
			int made)
{
	if (!strcmp(function, "scif_open"))
		set(states, ret, "unbound");
	else if (!strcmp(function, "scif_connect") && ret == -1 && err == EINPROGRESS)
		set(states, epd, "connecting");
	else if (ret == -1)
		return;
	else if (!strcmp(function, "scif_bind"))
		set(states, epd, "bound");
	else if (!strcmp(function, "scif_listen"))
		set(states, epd, "listening");
	else if (!strcmp(function, "scif_connect"))
		set(states, epd, "connected");
	else if (!strcmp(function, "scif_accept"))
		set(states, made, "connected");
	else if (!strcmp(function, "scif_close"))
		set(states, epd, "closed");
}
