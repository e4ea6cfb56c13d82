/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scif_open: a new endpoint.
 */
#include <errno.h>
#include <unistd.h>

#include "embedded.h"
#include "endpoint.h"
#include "family.h"
#include "fork.h"
#include "node.h"
#include "process.h"
#include "safe_copy.h"
#include "wait.h"

static int prepare_process(void)
{
	int error = node_init();

	if (error == 0)
		error = family_init();
	if (error == 0)
		error = mem_fork_init();
	if (error == 0)
		error = process_init();
	if (error == 0)
		error = wait_init();
	safe_copy_install();
	return error;
}

/* The text knows two errors; every shortage is ENOMEM. */
int embedded_open(void)
{
	struct ep *ep;
	int fd, error = prepare_process();

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
