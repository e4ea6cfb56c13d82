/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Right but for five planted faults: a used port is EADDRINUSE, connect returns 0 instead of the
 * port, the end of the stream is a count of 0, a failing fence_mark writes the mark, and each
 * failing accept leaves a descriptor open.
 */
#include <errno.h>
#include <sys/eventfd.h>

#include "wrapped.h"

/* Whether a fresh endpoint cannot have the port either. */
static int is_used_port(uint16_t pn)
{
	scif_epd_t epd = wrapped.open();
	int used = epd >= 0 && wrapped.bind(epd, pn) < 0;

	if (epd >= 0)
		wrapped.close(epd);
	return used;
}

int scif_bind(scif_epd_t epd, uint16_t pn)
{
	int port = wrapped.bind(epd, pn);
	int error = errno;

	if (port < 0 && error == EINVAL && pn && is_used_port(pn))
		error = EADDRINUSE;
	errno = error;
	return port;
}

int scif_connect(scif_epd_t epd, struct scif_portID *dst)
{
	return wrapped.connect(epd, dst) < 0 ? -1 : 0;
}

int scif_recv(scif_epd_t epd, void *msg, int len, int flags)
{
	int count = wrapped.recv(epd, msg, len, flags);

	return count < 0 && errno == ECONNRESET ? 0 : count;
}

int scif_fence_mark(scif_epd_t epd, int flags, int *mark)
{
	int status = wrapped.fence_mark(epd, flags, mark);

	if (status < 0 && errno != EFAULT && mark)
		*mark = -1;
	return status;
}

int scif_accept(scif_epd_t epd, struct scif_portID *peer, scif_epd_t *newepd, int flags)
{
	int status = wrapped.accept(epd, peer, newepd, flags);
	int error = errno;

	if (status < 0)
		eventfd(0, 0);
	errno = error;
	return status;
}
