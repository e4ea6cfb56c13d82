/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_open: a new endpoint.
 */
#include <errno.h>
#include <unistd.h>

#include "embedded.h"
#include "endpoint.h"

/* The text knows two errors; every shortage is ENOMEM. */
int embedded_open(void)
{
	struct ep *ep;
	int fd, error = embedded_prepare();

	if (error != 0)
		return error == -ENXIO ? -ENXIO : -ENOMEM;
	ep = ep_create();
	if (ep == NULL)
		return -ENOMEM;
	fd = ep_socket();
	error = fd < 0 ? fd : ep_attach(ep, fd);
	if (error == 0)
		ep_publish(ep);
	else if (fd >= 0)
		close(fd);
	ep_put(ep);
	return error == 0 ? fd : -ENOMEM;
}
