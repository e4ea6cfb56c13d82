/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking an endpoint for its readiness by scif_poll, and waiting for it within bounds. */
#include "scif_endpoints.h"

#include <sched.h>

/* An implementation may ask the kernel about its peer only so often; the text gives no time for it.
 */
#define NOTICE_US 300
#define SLICE_MS  50 /* between two looks at the time that is left */

int cts_poll(scif_epd_t epd, int events)
{
	struct scif_pollepd entry = {.epd = epd, .events = (short)events};

	return scif_poll(&entry, 1, 0) == -1 ? -1 : (unsigned short)entry.revents;
}

int cts_poll_wait(scif_epd_t epd, int events)
{
	int got;

	while (!(got = cts_poll(epd, events)) && cts_time_left())
		sched_yield();
	return got;
}

void cts_wait_hup(scif_epd_t epd)
{
	struct pollfd entry = {.fd = epd};

	/* HUP needs no asking for, so the wait ends with it and not with data. */
	while (poll(&entry, 1, SLICE_MS) == -1 || !(entry.revents & POLLHUP))
		if (!cts_time_left())
			waited_in_vain("the disconnected endpoint shows no HUP");
	cts_let_pass_us(NOTICE_US);
}

void cts_set_nonblocking(scif_epd_t epd, bool on)
{
	int flags = fcntl(scif_get_fd(epd), F_GETFL);

	if (flags == -1 || fcntl(epd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK) == -1)
		cts_unresolved("O_NONBLOCK of descriptor %d: %s", epd, strerror(errno));
}
