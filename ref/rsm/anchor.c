/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The connection of the process with itself: windows are opened on one end, copies go through the
 * other.
 */
#include "anchor.h"

#include <errno.h>
#include <scif.h>
#include <stdatomic.h>
#include <stdint.h>

#include "endpoint.h"
#include "service.h"

static struct {
	unsigned uses;
	scif_epd_t windows, transfers;
} anchor = {.windows = -1, .transfers = -1};

/* How many connections of strangers to our port are turned away before we give up. */
enum { STRANGERS = 16 };

static int listen_somewhere(scif_epd_t *listener, uint16_t *port)
{
	int bound;

	*listener = endpoint_open();
	if (*listener < 0)
		return *listener;
	bound = scif_bind(*listener, 0);
	if (bound > 0 && scif_listen(*listener, STRANGERS) == 0) {
		*port = (uint16_t)bound;
		return 0;
	}
	endpoint_close(*listener);
	return bound < 0 && errno != ENOSPC && errno != ENOMEM ? -EAGAIN : -errno;
}

static int accept_own(scif_epd_t listener, const struct scif_portID *own)
{
	struct scif_portID peer;
	scif_epd_t epd;

	for (int i = 0; i < STRANGERS; i++) {
		epd = endpoint_accept(listener, &peer);
		if (epd < 0 || (peer.node == own->node && peer.port == own->port))
			return epd;
		endpoint_close(epd);
	}
	return -EAGAIN;
}

/* The request is in the queue once the first connect has returned, so accepting needs no wait. */
static int meet(scif_epd_t listener, scif_epd_t connector, struct scif_portID *to,
		scif_epd_t *accepted)
{
	struct scif_portID own = {.node = to->node};
	int port = scif_bind(connector, 0), error;

	if (port < 0)
		return -errno;
	own.port = (uint16_t)port;
	error = endpoint_connect(connector, to->node, to->port, 0, false);
	if (error != 0 && error != -ETIMEDOUT)
		return error;
	*accepted = accept_own(listener, &own);
	if (*accepted < 0)
		return *accepted;
	error = endpoint_connect(connector, to->node, to->port, service_now() + SERVICE_PATIENCE_NS,
				 false);
	if (error != 0)
		endpoint_close(*accepted);
	return error;
}

static int connect_self(void)
{
	struct scif_portID to;
	scif_epd_t listener, connector;
	int error;

	if (scif_get_nodeIDs(NULL, 0, &to.node) < 0)
		return -errno;
	error = listen_somewhere(&listener, &to.port);
	if (error != 0)
		return error;
	connector = endpoint_open();
	error = connector < 0 ? connector : meet(listener, connector, &to, &anchor.windows);
	endpoint_close(listener);
	if (error == 0)
		anchor.transfers = connector;
	else if (connector >= 0)
		endpoint_close(connector);
	return error;
}

int anchor_use(void)
{
	int error = anchor.uses == 0 ? connect_self() : 0;

	if (error == 0)
		anchor.uses++;
	return error;
}

void anchor_release(void)
{
	if (--anchor.uses > 0)
		return;
	endpoint_close(anchor.transfers);
	endpoint_close(anchor.windows);
	anchor.transfers = anchor.windows = -1;
}

off_t anchor_register(void *vaddr, size_t size)
{
	off_t window =
		scif_register(anchor.windows, vaddr, size, 0, SCIF_PROT_READ | SCIF_PROT_WRITE, 0);

	return window == SCIF_REGISTER_FAILED ? -errno : window;
}

void anchor_unregister(off_t window, size_t size)
{
	scif_unregister(anchor.windows, window, size);
}

int anchor_read(void *to, size_t n, off_t from)
{
	return scif_vreadfrom(anchor.transfers, to, n, from, SCIF_RMA_SYNC) == 0 ? 0 : -errno;
}

int anchor_write(off_t to, const void *from, size_t n)
{
	return scif_vwriteto(anchor.transfers, (void *)(uintptr_t)from, n, to, SCIF_RMA_SYNC) == 0
		       ? 0
		       : -errno;
}

/* The endpoints were closed with all others. */
void anchor_atfork_child(void)
{
	anchor.uses = 0;
	anchor.windows = anchor.transfers = -1;
}
